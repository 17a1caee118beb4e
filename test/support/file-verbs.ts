/** `cp` and `files` on a memory backend with two sandboxes, `box` and `other`. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../src/lib/backend/contract.ts';
import type { Backends } from '../../src/lib/backend/registry.ts';
import { deriveAll } from '../../src/lib/backends/memory/derived.ts';
import { createMemoryBackend } from '../../src/lib/backends/memory/index.ts';
import { type Clock, createContext } from '../../src/lib/cli/context.ts';
import { main } from '../../src/lib/cli/main.ts';
import { type MemoryIoOptions, memoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { open, scrap } from '../lib/ops/copy/trees.ts';
import { clockWith, timeless } from './later.ts';

const commands = {
  cp: () => import('../../src/commands/cp.ts'),
  'files:ls': () => import('../../src/commands/files/ls.ts'),
  'files:cat': () => import('../../src/commands/files/cat.ts'),
  'files:write': () => import('../../src/commands/files/write.ts'),
  'files:mkdir': () => import('../../src/commands/files/mkdir.ts'),
  'files:rm': () => import('../../src/commands/files/rm.ts'),
  'files:stat': () => import('../../src/commands/files/stat.ts'),
  'files:watch': () => import('../../src/commands/files/watch.ts'),
};

export interface RunOptions extends MemoryIoOptions {
  readonly signals?: SignalHub;
  /** Of the clock. Default: nobody ever waits long. */
  readonly later?: Clock['later'];
  /** Asked again and again with what stands on stdout; true: INT arrives. */
  readonly interruptWhen?: (stdout: string) => boolean;
}

export interface FileVerbs extends AsyncDisposable {
  /** A folder of this machine. */
  readonly here: string;
  /** The workdirs of the sandboxes, as this machine sees them. */
  readonly box: string;
  readonly other: string;
  run(
    argv: readonly string[],
    options?: RunOptions,
  ): Promise<{
    readonly exit: number;
    readonly bytes: Buffer;
    readonly stdout: string;
    readonly stderr: string;
  }>;
}

export async function fileVerbs(): Promise<FileVerbs> {
  const derived = { archive: 'derived', files: 'derived' } as const;
  const backend = createMemoryBackend({ derived: { of: deriveAll, capabilities: derived } });
  const call = { signal: new AbortController().signal };
  const plain = { env: {}, labels: {}, limits: {} };
  const box = await backend.create({ ...plain, name: 'box' }, call);
  const other = await backend.create({ ...plain, name: 'other' }, call);
  const here = mkdtempSync(join(tmpdir(), 'sbx-here-'));
  const backends: Backends = {
    get: async () => backend,
    names: () => ['memory'],
    default: () => 'memory',
    async *all() {
      yield backend;
    },
    having: () => ['memory'],
    describe: (name) => ({
      name,
      type: 'memory',
      isDefault: true,
      manifest: backend.manifest,
      settings: { type: 'memory' },
    }),
    types: () => [backend.manifest],
  };
  const workdir = async (sandbox: Sandbox): Promise<string> => {
    const running = await sandbox.exec({ argv: ['pwd', '-P'], stdin: 'none' }, call);
    const parts: Buffer[] = [];
    for await (const part of running.stdout ?? []) parts.push(part as Buffer);
    return Buffer.concat(parts).toString().trimEnd();
  };
  const folders = { box: await workdir(box), other: await workdir(other) };
  return {
    here,
    ...folders,
    async run(argv, { signals = new SignalHub(), interruptWhen, later = timeless, ...ioOptions } = {}) {
      const io = memoryIo(ioOptions);
      const clock = clockWith(later);
      const context = createContext({ io, env: {}, signals, clock, openBackends: async () => backends });
      const looking = setInterval(() => {
        if (interruptWhen?.(io.stdout.text) !== true) return;
        clearInterval(looking);
        signals.deliver('SIGINT');
      }, 20);
      const exit = await main(argv, { root: '/nowhere', commands, aliases: {} }, context);
      clearInterval(looking);
      return { exit, bytes: io.stdout.bytes, stdout: io.stdout.text, stderr: io.stderr.text };
    },
    async [Symbol.asyncDispose]() {
      for (const folder of [folders.box, folders.other]) open(folder);
      await backend.dispose();
      scrap(here);
    },
  };
}
