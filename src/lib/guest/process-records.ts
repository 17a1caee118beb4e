/**
 * The records that the process programs keep and print, as typed facts. The sandbox controls every byte of them:
 * what is malformed becomes an unknown fact, never an error.
 */
import { constants } from 'node:os';
import type { Exit, ProcessInfo } from '../backend/contract.ts';
import { byStart } from '../backend/pick-process.ts';

/** Longest part of an argv that is read, in bytes. */
export const ARGV_LIMIT = 32 * 1024;

const ID = /^[0-9a-f]{8}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
const WHOLE = /^\d{1,15}$/;

/** Whether `text` is the id of a process record. */
export function isProcessId(text: string): boolean {
  return ID.test(text);
}

/** Whether `text` can name a process. */
export function isProcessName(text: string): boolean {
  return NAME.test(text);
}

/** A shell's exit status: above 128 it stands for a signal. */
export function exitOfStatus(status: number): Exit {
  const signal = status > 128 ? signalNames().get(status - 128) : undefined;
  return signal === undefined ? { code: status } : { signal };
}

/** Facts of a record as text, `-` or malformed where unknown. */
export interface RawRecord {
  readonly id: string;
  readonly name: string | undefined;
  readonly running: boolean;
  readonly pid: string | undefined;
  /** When it started by the system's clock, finer than `started`. */
  readonly ticks?: string | undefined;
  /** Epoch seconds. */
  readonly started: string | undefined;
  /** A shell's exit status. */
  readonly code: string | undefined;
  /** Epoch seconds. */
  readonly ended: string | undefined;
  /** Number of arguments. */
  readonly argc: string | undefined;
  /** The argv, each argument followed by a NUL; possibly cut. */
  readonly argv: Uint8Array;
}

/** What a record says; undefined for one whose id is none. */
export function processOfRecord(raw: RawRecord): ProcessInfo | undefined {
  if (!isProcessId(raw.id)) return undefined;
  const status = wholeNumber(raw.code, 255);
  return {
    id: raw.id,
    ...given('name', raw.name !== undefined && isProcessName(raw.name) ? raw.name : undefined),
    argv: argvOf(raw.argv, wholeNumber(raw.argc, 1_000_000)),
    state: raw.running ? 'running' : 'exited',
    ...given('pid', wholeNumber(raw.pid, 2 ** 31)),
    ...given('startedAt', timeOf(raw.started)),
    ...(raw.running
      ? {}
      : {
          ...given('endedAt', timeOf(raw.ended)),
          ...given('exit', status === undefined ? undefined : exitOfStatus(status)),
        }),
  };
}

/** What records say, the oldest first. Those whose id is none are left out; of two with one id the last counts. */
export function processesOfRecords(records: readonly RawRecord[]): ProcessInfo[] {
  const found = new Map<string, { readonly info: ProcessInfo; readonly ticks: number }>();
  for (const raw of records) {
    const info = processOfRecord(raw);
    if (info !== undefined)
      found.set(info.id, { info, ticks: wholeNumber(raw.ticks, Number.MAX_SAFE_INTEGER) ?? 0 });
  }
  return [...found.values()]
    .sort((a, b) => byStart(a.info, b.info) || a.ticks - b.ticks || (a.info.id < b.info.id ? -1 : 1))
    .map(({ info }) => info);
}

/** Reads what process-list.sh printed with `mark`. */
export function parseProcessList(output: Buffer, mark: string): ProcessInfo[] {
  const records: RawRecord[] = [];
  const edge = Buffer.from(`${mark}\n`);
  let at = output.indexOf(edge);
  while (at >= 0) {
    const from = at + edge.length;
    at = output.indexOf(edge, from);
    if (at < 0) break;
    const part = output.subarray(from, at);
    const lineEnd = part.indexOf(0x0a);
    if (lineEnd < 0) continue;
    const [id = '', name, state, pid, ticks, started, code, ended, argc] = part
      .toString('latin1', 0, lineEnd)
      .split(' ');
    const argv = part.subarray(lineEnd + 1);
    records.push({ id, name, running: state === 'running', pid, ticks, started, code, ended, argc, argv });
  }
  return processesOfRecords(records);
}

function argvOf(bytes: Uint8Array, count: number | undefined): string[] {
  if (bytes.length === 0) return [];
  const parts = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, ARGV_LIMIT))
    .toString('utf8')
    .split('\0');
  // A whole argv ends in a NUL; a cut one in the beginning of an argument.
  if (parts.at(-1) === '') parts.pop();
  return count === undefined ? parts : parts.slice(0, count);
}

function wholeNumber(text: string | undefined, most: number): number | undefined {
  const number = text !== undefined && WHOLE.test(text) ? Number(text) : undefined;
  return number !== undefined && number <= most ? number : undefined;
}

const LAST_TIME = 8_640_000_000_000;

function timeOf(seconds: string | undefined): string | undefined {
  const number = wholeNumber(seconds, LAST_TIME);
  return number === undefined || number === 0 ? undefined : new Date(number * 1000).toISOString();
}

function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

let names: Map<number, string> | undefined;

function signalNames(): Map<number, string> {
  // The first name of a number is the usual one: IOT and ABRT, POLL and IO share theirs.
  names ??= new Map(
    Object.entries(constants.signals)
      .map(([name, number]) => [number, name.slice(3)] as const)
      .filter(([, name]) => !['IOT', 'POLL', 'CLD', 'UNUSED'].includes(name)),
  );
  return names;
}
