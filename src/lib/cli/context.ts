/** Everything a command may touch outside itself. Costly things are functions, so that tests and fast verbs skip them. */
import { type Backends, type OpenBackends, openConfiguredBackends } from './backends.ts';
import { type Io, processIo } from './io.ts';
import { type Logger, type LogLevel, lineLogger } from './logger.ts';
import { type Paths, pathsFrom } from './paths.ts';
import type { Prompter } from './prompts.ts';
import { listenToProcess, SignalHub, type Signals } from './signals.ts';

/** An environment; unset names are undefined. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Time, so that tests can set it. */
export interface Clock {
  /** Now, on the wall. */
  now(): Date;
  /** Milliseconds that only ever grow, for durations. */
  monotonic(): number;
  /** Calls `act` once after so many milliseconds, unless the process ends before or the result is disposed. */
  later(ms: number, act: () => void): Disposable;
}

/** Values of flags from the config file: command id → flag → text, as an environment variable would give it. */
export type FlagDefaults = (commandId: string) => Promise<Readonly<Record<string, string>>>;

/** The world as a command sees it. */
export interface Context {
  readonly io: Io;
  readonly env: Env;
  readonly clock: Clock;
  readonly paths: Paths;
  /** Aborted on INT, TERM and HUP, unless a command has taken {@link signals} over. */
  readonly signal: AbortSignal;
  readonly signals: Signals;
  readonly logger: Logger;
  /** What the global flags said; set once the command line is parsed. */
  readonly settings: Settings;
  prompter(): Promise<Prompter>;
  backends(): Promise<Backends>;
  readonly flagDefaults?: FlagDefaults;
  /** Ends the process at once, whatever still runs in it; what was written has left. Absent where it is not ours. */
  readonly leave?: () => never;
}

/** What the global flags say. */
export interface Settings extends LogLevel {
  noInput: boolean;
  yes: boolean;
  /** `--backend`: the configured backend to use. */
  backend: string | undefined;
  /** `--color` or `--no-color`; undefined: decided by the environment. */
  color: boolean | undefined;
  /** The command line as it was given, without the name of the program. */
  words: readonly string[];
}

/** Makes the global flags of a command line known. */
export function applyFlags(flags: Readonly<Record<string, unknown>>, settings: Settings): void {
  settings.quiet = flags.quiet === true;
  settings.debug = flags.debug === true;
  settings.noInput = flags['no-input'] === true;
  settings.yes = flags.yes === true;
  settings.backend = typeof flags.backend === 'string' ? flags.backend : undefined;
  settings.color = typeof flags.color === 'boolean' ? flags.color : undefined;
}

/** The parts that a caller may replace. */
export interface ContextParts {
  readonly io: Io;
  readonly env: Env;
  readonly signals: Signals;
  readonly clock?: Clock;
  readonly paths?: Paths;
  readonly openBackends?: OpenBackends;
  readonly prompter?: Prompter;
  readonly flagDefaults?: FlagDefaults;
  readonly leave?: () => never;
}

/** Not by `performance`, which loads all of node:perf_hooks. */
const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => Number(process.hrtime.bigint()) / 1e6,
  later(ms, act) {
    const timer = setTimeout(act, ms).unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
};

/** Puts a context together; what is not given comes from the system. */
export function createContext(parts: ContextParts): Context {
  const { io, env, signals } = parts;
  const settings: Settings = {
    quiet: false,
    debug: false,
    noInput: false,
    yes: false,
    backend: undefined,
    color: undefined,
    words: [],
  };
  let backends: Promise<Backends> | undefined;
  const context: Context = {
    io,
    env,
    clock: parts.clock ?? systemClock,
    paths: parts.paths ?? pathsFrom(env, () => process.cwd()),
    get signal() {
      return signals.signal;
    },
    signals,
    logger: lineLogger(io.stderr, settings),
    settings,
    async prompter() {
      if (parts.prompter !== undefined) return parts.prompter;
      const { terminalPrompter } = await import('./prompts.ts');
      return terminalPrompter({ io, env, settings, signal: signals.signal });
    },
    backends() {
      backends ??= (parts.openBackends ?? openConfiguredBackends)(context);
      return backends;
    },
    ...(parts.flagDefaults === undefined ? {} : { flagDefaults: parts.flagDefaults }),
    ...(parts.leave === undefined ? {} : { leave: parts.leave }),
  };
  return context;
}

/** The context of this process. */
export function processContext(openBackends?: OpenBackends): Context {
  const signals = new SignalHub();
  listenToProcess(signals);
  const { env } = process;
  const paths = pathsFrom(env, () => process.cwd());
  return createContext({
    io: processIo(),
    env,
    signals,
    paths,
    flagDefaults: async (id) => (await import('../store/config.ts')).flagDefaults(() => paths.config, id),
    leave: () => process.exit(),
    ...(openBackends === undefined ? {} : { openBackends }),
  });
}
