/** The records of processes in a container that does not run: fetched through the engine into a folder of this machine. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Call, Processes } from '../../backend/contract.ts';
import { folderProcesses } from '../../backend/derived/process-folder.ts';
import { SbxError } from '../../errors.ts';
import { isProcessId } from '../../guest/process-records.ts';
import { readArchive } from './archive-calls.ts';
import type { Box } from './box.ts';

/** What the records of ended processes can tell. */
export type Records = Pick<Processes, 'list' | 'logs'>;

/** Where process 1 makes place for them, in the container and in the folder here. */
const INSIDE = '/var/lib/sbx';
const RECORDS = 'processes';

/** What `ask` gets to know from the records: of the process `ref` with its log, else of all without. */
export async function* withRecords<T>(
  box: Box,
  ref: string | undefined,
  ask: (processes: Records) => AsyncIterable<T>,
  call: Call,
): AsyncGenerator<T, void, void> {
  const folder = await mkdtemp(join(tmpdir(), 'sbx-records-'));
  try {
    // By its name a process is found among all.
    if (ref !== undefined && isProcessId(ref)) await fetchTree(box, `${RECORDS}/${ref}`, folder, true, call);
    else await fetchTree(box, RECORDS, folder, ref !== undefined, call);
    yield* ask(folderProcesses(folder, { running: false, sandbox: box.name }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Files and folders only, and ours: what else the sandbox may have put there is left. */
async function fetchTree(
  box: Box,
  path: string,
  folder: string,
  withLogs: boolean,
  call: Call,
): Promise<void> {
  const into = join(folder, path, '..');
  await mkdir(into, { recursive: true });
  try {
    const tar = await readArchive(box, `${INSIDE}/${path}`, call);
    const options = {
      cwd: into,
      preserveOwner: false,
      filter: (name: string, entry: object) =>
        'type' in entry &&
        (entry.type === 'Directory' || (entry.type === 'File' && (withLogs || !name.endsWith('/log')))),
      onReadEntry(entry: { mode?: number | undefined; type: string }) {
        entry.mode = entry.type === 'Directory' ? 0o700 : 0o600;
      },
    };
    const { extract } = await import('tar/extract');
    await pipeline(tar, extract(options));
  } catch (error) {
    // There have been none yet.
    if (!(error instanceof SbxError) || error.code !== 'not_found') throw error;
  }
}
