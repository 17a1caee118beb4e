/** Runs command lines in this process against memory backends: argv in; exit code, stdout and stderr out. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../src/lib/backend/contract.ts';
import type { Backends } from '../../src/lib/backend/registry.ts';
import { createMemoryBackend, type MemoryBackend } from '../../src/lib/backends/memory/index.ts';
import type { CommandClass, CommandTable } from '../../src/lib/cli/command-class.ts';
import { type Clock, type Context, createContext, type Env } from '../../src/lib/cli/context.ts';
import { main } from '../../src/lib/cli/main.ts';
import { type MemoryIo, type MemoryIoOptions, memoryIo } from '../../src/lib/cli/memory-io.ts';
import type { Prompter } from '../../src/lib/cli/prompts.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { clockWith, timeless } from './later.ts';

/** How one command line is run. */
export interface RunOptions extends MemoryIoOptions {
  readonly env?: Env;
  readonly prompter?: Prompter;
  readonly signals?: SignalHub;
  /** Default: one on which nobody ever waits long, so that no output depends on how fast this machine is. */
  readonly clock?: Clock;
  /** Gets the streams before the command starts. */
  readonly watch?: (io: MemoryIo) => void;
}

/** What a command line left. */
export interface RunResult {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A few commands over a few backends; the first backend is the default. */
export interface CommandLine extends AsyncDisposable {
  run(argv: readonly string[], options?: RunOptions): Promise<RunResult>;
  readonly memory: MemoryBackend;
  /** A folder of its own, which is also where relative paths start. */
  readonly folder: string;
}

export interface CommandLineOptions {
  /** Classes by id, such as `snapshot:create`. */
  readonly commands: Readonly<Record<string, CommandClass>>;
  /** Further backends besides the one called `memory`. */
  readonly backends?: readonly Backend[];
}

/** Commands over a memory backend and what else is given. */
export function commandLine({ commands, backends: more = [] }: CommandLineOptions): CommandLine {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-commands-'));
  const memory = createMemoryBackend();
  const backends = backendsOf([memory, ...more]);
  const table: CommandTable = {
    root: folder,
    commands: Object.fromEntries(
      Object.entries(commands).map(([id, Class]) => [id, async () => ({ default: Class })]),
    ),
    aliases: Object.fromEntries(
      Object.entries(commands).flatMap(([id, { aliases = [] }]) => aliases.map((alias) => [alias, id])),
    ),
  };
  return {
    memory,
    folder,
    async run(argv, options = {}) {
      const io = memoryIo(options);
      const context: Context = createContext({
        io,
        env: { PATH: process.env.PATH, HOME: folder, ...options.env },
        signals: options.signals ?? new SignalHub(),
        clock: options.clock ?? clockWith(timeless),
        paths: {
          cwd: folder,
          config: `${folder}/config`,
          state: `${folder}/state`,
          cache: `${folder}/cache`,
          runtime: `${folder}/run`,
        },
        openBackends: async () => backends,
        ...(options.prompter === undefined ? {} : { prompter: options.prompter }),
      });
      options.watch?.(io);
      const exit = await main(argv, table, context);
      return { exit, stdout: io.stdout.text, stderr: io.stderr.text };
    },
    async [Symbol.asyncDispose]() {
      await memory.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The registry over backends that are open already; the first is the default. */
export function backendsOf(list: readonly Backend[]): Backends {
  const [first] = list;
  if (first === undefined) throw new Error('no backend');
  const get = async (name = first.name) => {
    const found = list.find((backend) => backend.name === name);
    if (found === undefined) throw new SbxError('not_found', `no backend is called '${name}'`);
    return found;
  };
  return {
    get,
    names: () => list.map(({ name }) => name),
    default: () => first.name,
    async *all() {
      yield* list;
    },
    having: (capability) => [
      ...new Set(
        list.filter(({ manifest }) => manifest.capabilities[capability]).map(({ manifest }) => manifest.type),
      ),
    ],
    describe: (name) => {
      const found = list.find((backend) => backend.name === name);
      if (found === undefined) throw new Error(`nothing is configured for ${name}`);
      const { manifest } = found;
      return {
        name,
        type: manifest.type,
        isDefault: found === first,
        manifest,
        settings: { type: manifest.type },
      };
    },
    types: () => list.map(({ manifest }) => manifest),
  };
}

/** A backend that cannot be reached. */
export function unreachableBackend(name: string): Backend {
  const memory = createMemoryBackend({ name });
  const fail = () => new SbxError('unreachable', `backend '${name}' does not answer`, { backend: name });
  return {
    ...memory,
    get: async () => Promise.reject(fail()),
    create: async () => Promise.reject(fail()),
    // biome-ignore lint/correctness/useYield: it fails before it has anything
    async *list() {
      throw fail();
    },
  };
}

/** A prompter that answers by itself and remembers what it was asked. */
export function answering(answer: boolean | number): Prompter & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    canAsk: true,
    async confirm({ message }) {
      asked.push(message);
      return answer === true;
    },
    async select({ message, choices }) {
      asked.push(message, ...choices.map(({ name }) => name));
      const choice = choices[Number(answer)];
      if (choice === undefined) throw new Error('no such choice');
      return choice.value;
    },
    async input({ message }) {
      asked.push(message);
      return '';
    },
  };
}
