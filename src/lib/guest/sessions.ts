/** What the session programs print, as typed facts. The sandbox controls every byte: what is malformed becomes an unknown fact. */
import type { Exit, SessionInfo, SessionSurroundings } from '../backend/contract.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import { exitOfStatus } from './process-records.ts';

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const WHOLE = /^\d{1,15}$/;
const LAST_TIME = 8_640_000_000_000;

/** Whether `text` can name a session. */
export function isSessionName(text: string): boolean {
  return NAME.test(text);
}

/** Reads what session-list.sh printed with `mark`: the sessions, the oldest first. */
export function parseSessionList(output: Buffer, mark: string): SessionInfo[] {
  const edge = Buffer.from(`${mark}\n`);
  const parts: Buffer[] = [];
  for (let at = output.indexOf(edge); at >= 0; ) {
    const from = at + edge.length;
    at = output.indexOf(edge, from);
    if (at >= 0) parts.push(output.subarray(from, at));
  }
  const found = new Map<string, Listed>();
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const listed = sessionOf(parts[at] as Buffer, parts[at + 1] as Buffer);
    // Of two with one name, one that runs counts.
    if (listed !== undefined && found.get(listed.info.name)?.info.state !== 'running')
      found.set(listed.info.name, listed);
  }
  return [...found.values()].sort(byCreation).map(({ info }) => info);
}

interface Listed {
  readonly info: SessionInfo;
  /** When it was made by the system's clock, finer than `createdAt`. */
  readonly ticks: number;
}

function sessionOf(head: Buffer, folder: Buffer): Listed | undefined {
  const lineEnd = head.indexOf(0x0a);
  if (lineEnd < 0) return undefined;
  const [name = '', state, pid, created, code, ended, attached, rows, cols, recording, ticks] = head
    .toString('latin1', 0, lineEnd)
    .split(' ');
  if (!isSessionName(name)) return undefined;
  const running = state === 'running';
  const width = wholeNumber(cols, 0xffff);
  const height = wholeNumber(rows, 0xffff);
  const info: SessionInfo = {
    name,
    state: running ? 'running' : 'ended',
    ...given('createdAt', timeOf(created)),
    ...given(
      'recording',
      RECORDINGS.find((each) => each === recording),
    ),
    ...given('pid', wholeNumber(pid, 2 ** 31)),
    ...(running
      ? {
          ...given('attached', attached === 'yes' ? true : attached === 'no' ? false : undefined),
          ...given('command', commandOf(head.subarray(lineEnd + 1))),
          ...given('workdir', lineOf(folder)),
          ...given('size', width && height ? { cols: width, rows: height } : undefined),
        }
      : { ...given('endedAt', timeOf(ended)), ...given('exit', exitOfRecord(code)) }),
  };
  return { info, ticks: wholeNumber(ticks, Number.MAX_SAFE_INTEGER) ?? 0 };
}

const RECORDINGS = ['whole', 'partial', 'none'] as const;

/** How a session ended, from the first field of its exit record. */
export function exitOfRecord(code: string | undefined): Exit | undefined {
  const status = wholeNumber(code, 255);
  return status === undefined ? undefined : exitOfStatus(status);
}

/** Reads what session-surroundings.sh printed with `mark`; undefined when it makes no sense. */
export function parseSurroundings(output: Buffer, mark: string): SessionSurroundings | undefined {
  const edge = output.lastIndexOf(`\n${mark}\n`);
  if (edge < 0) return undefined;
  const workdir = output.toString('utf8', 0, edge);
  if (!workdir.startsWith('/')) return undefined;
  const env: Record<string, string> = {};
  for (const entry of output.toString('utf8', edge + mark.length + 2).split('\0')) {
    const at = entry.indexOf('=');
    if (at > 0) env[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return { workdir, env };
}

function byCreation(a: Listed, b: Listed): number {
  const [left, right] = [a.info.createdAt ?? '', b.info.createdAt ?? ''];
  if (left !== right) return left < right ? -1 : 1;
  return a.ticks - b.ticks || (a.info.name < b.info.name ? -1 : 1);
}

function commandOf(words: Buffer): string | undefined {
  if (words.length === 0) return undefined;
  const parts = words.toString('utf8').split('\0');
  if (parts.at(-1) === '') parts.pop();
  return quoteArgv(parts);
}

function lineOf(text: Buffer): string | undefined {
  return text.length > 1 ? text.toString('utf8').replace(/\n$/, '') : undefined;
}

function timeOf(seconds: string | undefined): string | undefined {
  const number = wholeNumber(seconds, LAST_TIME);
  return number === undefined || number === 0 ? undefined : new Date(number * 1000).toISOString();
}

function wholeNumber(text: string | undefined, most: number): number | undefined {
  const number = text !== undefined && WHOLE.test(text) ? Number(text) : undefined;
  return number !== undefined && number <= most ? number : undefined;
}

function given<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}
