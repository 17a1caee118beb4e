/**
 * Background processes as their records in a folder of this machine show them: for a backend that keeps the
 * sandbox's process folder on this machine, this needs no exec and works for stopped sandboxes too.
 * The sandbox may write anything there: see process-folder-files.ts; a malformed record becomes unknown facts.
 */
import type { FileHandle } from 'node:fs/promises';
import { ARGV_LIMIT, isProcessId, processesOfRecords, type RawRecord } from '../../guest/process-records.ts';
import type { Processes, ProcessInfo } from '../contract.ts';
import { pickProcess } from '../pick-process.ts';
import { isHeldOpen, namesIn, openDirectoryIn, openFolder, readFileIn } from './process-folder-files.ts';
import { folderLog } from './process-folder-logs.ts';
import { unknownProcess } from './processes.ts';

export interface FolderOptions {
  /** Whether the sandbox runs; in one that does not, every process has ended. */
  readonly running: boolean;
  /** The sandbox's name, for errors. */
  readonly sandbox?: string;
}

const LINE_LIMIT = 256;
const MOST_RECORDS = 4096;

/** `list` and `logs` over `directory`, the folder that the sandbox knows as `$SBX_GUEST_DIR`. */
export function folderProcesses(directory: string, options: FolderOptions): Pick<Processes, 'list' | 'logs'> {
  const list = async (): Promise<ProcessInfo[]> => {
    const all = await openRecords(directory);
    if (all === undefined) return [];
    try {
      const ids = (await namesIn(all)).filter(isProcessId).slice(0, MOST_RECORDS);
      const found: RawRecord[] = [];
      for (const id of ids) {
        const raw = await readRecord(all, id, options.running);
        if (raw !== undefined) found.push(raw);
      }
      return processesOfRecords(found);
    } finally {
      await all.close();
    }
  };
  return {
    async *list() {
      yield* await list();
    },
    async *logs(ref, logOptions, call) {
      const id = isProcessId(ref) ? ref : pickProcess(await list(), ref)?.id;
      const all = id === undefined ? undefined : await openRecords(directory);
      const record = id === undefined || all === undefined ? undefined : await openDirectoryIn(all, id);
      await all?.close();
      if (record === undefined) throw unknownProcess(options.sandbox ?? 'SANDBOX', ref);
      try {
        yield* folderLog(
          record,
          async () => (await stateOf(record, options.running)).running,
          logOptions,
          call,
        );
      } finally {
        await record.close();
      }
    },
  };
}

async function openRecords(directory: string): Promise<FileHandle | undefined> {
  const folder = await openFolder(directory);
  if (folder === undefined) return undefined;
  try {
    return await openDirectoryIn(folder, 'processes');
  } finally {
    await folder.close();
  }
}

async function readRecord(all: FileHandle, id: string, running: boolean): Promise<RawRecord | undefined> {
  const record = await openDirectoryIn(all, id);
  if (record === undefined) return undefined;
  try {
    const [name] = await fieldsOf(record, 'name');
    const [pid, ticks, started, argc] = await fieldsOf(record, 'started');
    const state = await stateOf(record, running);
    const argv = (await readFileIn(record, 'argv', ARGV_LIMIT)) ?? Buffer.alloc(0);
    return { id, name, pid, ticks, started, argc, argv, ...state };
  } finally {
    await record.close();
  }
}

interface State {
  readonly running: boolean;
  readonly code: string | undefined;
  readonly ended: string | undefined;
}

async function stateOf(record: FileHandle, running: boolean): Promise<State> {
  const alive = running && (await isHeldOpen(record, 'alive'));
  // Read after: a process that ends in between has its exit record by then.
  const exit = await readFileIn(record, 'exit', LINE_LIMIT);
  if (exit === undefined) return { running: alive ?? running, code: undefined, ended: undefined };
  const [code, ended] = splitFields(exit);
  return { running: false, code, ended };
}

async function fieldsOf(record: FileHandle, name: string): Promise<string[]> {
  return splitFields((await readFileIn(record, name, LINE_LIMIT)) ?? Buffer.alloc(0));
}

function splitFields(line: Buffer): string[] {
  return line.toString('latin1').split('\n', 1)[0]?.split(' ') ?? [];
}
