/** Sandboxes for the tests of derived processes: the memory backend, with a shell and tools of choice inside. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  Call,
  LogChunk,
  Processes,
  ProcessInfo,
  Sandbox,
} from '../../../../src/lib/backend/contract.ts';
import { deriveProcesses } from '../../../../src/lib/backend/derived/processes.ts';
import { createMemoryBackend } from '../../../../src/lib/backends/memory/index.ts';

export const call: Call = { signal: new AbortController().signal };

/** Shells that the guest programs have to work in, each with the tools that come with it. */
export const SHELLS = ['dash', 'busybox'] as const;

// Debian's busybox has no flock: the link fails, and with it the lock that is tried first.
const APPLETS =
  'sh setsid stat tail head dd date grep wc tr sleep ls mkdir mkfifo mv rm cat id flock nproc df'.split(' ');

export interface ProcessBox {
  readonly sandbox: Sandbox;
  readonly processes: Processes;
  /** What the sandbox knows as $SBX_GUEST_DIR. */
  readonly folder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A running sandbox whose `/bin/sh` is `shell`. */
export async function processBox(shell: (typeof SHELLS)[number]): Promise<ProcessBox> {
  const tools = mkdtempSync(join(tmpdir(), 'sbx-tools-'));
  const links =
    shell === 'busybox'
      ? APPLETS.map((name) => [name, '/usr/bin/busybox'] as const)
      : [['sh', '/usr/bin/dash'] as const];
  for (const [name, target] of links) symlinkSync(target, join(tools, name));
  const backend = createMemoryBackend();
  const made = await backend.create(
    { env: { PATH: `${tools}:/usr/sbin:/usr/bin:/sbin:/bin` }, labels: {}, limits: {} },
    call,
  );
  const sandbox: Sandbox = {
    ...made,
    name: made.name,
    exec: (spec, given) => {
      const [file, ...rest] = spec.argv;
      return made.exec({ ...spec, argv: [file === '/bin/sh' ? join(tools, 'sh') : file, ...rest] }, given);
    },
  };
  const where = await sandbox.exec(
    { argv: ['/bin/sh', '-c', 'printf %s "$SBX_GUEST_DIR"'], stdin: 'none' },
    call,
  );
  let folder = '';
  for await (const part of where.stdout ?? []) folder += String(part);
  return {
    sandbox,
    processes: deriveProcesses(sandbox),
    folder,
    async [Symbol.asyncDispose]() {
      await backend.dispose();
      rmSync(tools, { recursive: true, force: true });
    },
  };
}

export async function listed(processes: Pick<Processes, 'list'>): Promise<ProcessInfo[]> {
  const all: ProcessInfo[] = [];
  for await (const info of processes.list(call)) all.push(info);
  return all;
}

export async function textOf(chunks: AsyncIterable<LogChunk>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const { data } of chunks) parts.push(data);
  return Buffer.concat(parts).toString();
}

/** Reads on until `wanted` has come. The stream stays open. */
export async function readUntil(chunks: AsyncIterator<LogChunk>, wanted: string): Promise<string> {
  let text = '';
  while (!text.includes(wanted)) {
    const next = await chunks.next();
    if (next.done) throw new Error(`the log ended after ${JSON.stringify(text)}`);
    text += Buffer.from(next.value.data).toString();
  }
  return text;
}

/** Follows the log to the end of the process. */
export async function untilEnd(processes: Processes, ref: string): Promise<string> {
  return await textOf(processes.logs(ref, { follow: true }, call));
}
