/** Progress on stderr: one live line on a terminal, plain lines elsewhere, nothing for what ends at once. */
import type { Counted, Progress } from '../ops/progress.ts';
import { tookText } from '../ui/progress-line.ts';
import { visible } from '../ui/text.ts';
import type { Clock, Context } from './context.ts';
import type { LiveLine } from './live-line.ts';
import { OutputTail } from './output-tail.ts';
import { inCi, isDumb } from './terminal-env.ts';

/** What ends sooner is not shown on a live line. */
const PATIENCE_MS = 300;
/** A line in a log stays, so a step has to be worth it. */
const LINE_PATIENCE_MS = 2000;

type World = Pick<Context, 'io' | 'env' | 'settings' | 'clock' | 'logger'>;

/** The part of a command that this needs. */
export interface ProgressOwner {
  readonly context: World;
  /** Whether the result is for a program, which then reads stderr too: there an error is an object. */
  readonly wantsJson: boolean;
}

/** `live`: a line that replaces itself. `lines`: a line a step, and all output of commands. */
export type ProgressMode = 'live' | 'lines' | 'silent';

/** Tells a person how far it is until it is ended or disposed. */
export interface Reporter extends Progress, Disposable {
  /** It is over: what comes later is not shown. Something that took long leaves `summary` and the time it took. */
  end(summary?: string): void;
}

/** How progress is to be shown: never with `--quiet`; with `--json` only as the line that goes away again. */
export function progressMode({ context, wantsJson }: ProgressOwner): ProgressMode {
  const { io, env, settings } = context;
  if (settings.quiet) return 'silent';
  if (io.stderr.isTTY && !isDumb(env) && !inCi(env)) return 'live';
  return wantsJson ? 'silent' : 'lines';
}

/**
 * Ready to tell. Time counts from the first thing told, so that questions may come before. Nothing here keeps the
 * process alive.
 * @param first the step, when something is counted before there is one.
 */
export function startProgress(owner: ProgressOwner, first = ''): Reporter {
  const mode = progressMode(owner);
  return mode === 'lines' ? plainLines(owner.context, first) : oneLine(owner.context, first, mode === 'live');
}

/** Prints a step when it takes long, or when a command prints something in it. */
function plainLines({ io, clock, logger }: World, first: string): Reporter {
  const watch = new Stopwatch(clock, LINE_PATIENCE_MS);
  /** The step, until it is printed. */
  let pending = first;
  let timer: Disposable | undefined;
  let over = false;
  const flush = () => {
    if (pending !== '') io.stderr.write(`${visible(pending)}\n`);
    pending = '';
  };
  const begin = (text: string) => {
    watch.start();
    timer?.[Symbol.dispose]();
    pending = text;
    timer = clock.later(LINE_PATIENCE_MS, flush);
  };
  const end = (summary?: string) => {
    if (over) return;
    over = true;
    timer?.[Symbol.dispose]();
    const took = watch.stop();
    if (summary !== undefined && took !== undefined) logger.info(`${visible(summary)} in ${tookText(took)}`);
  };
  return {
    step(text) {
      if (!over) begin(text);
    },
    // A line for each would fill a log.
    detail: () => undefined,
    count() {
      if (!watch.runs) begin(pending);
    },
    output(data) {
      watch.start();
      flush();
      io.stderr.write(data);
    },
    fail: () => flush(),
    note(text) {
      flush();
      logger.info(visible(text));
    },
    end,
    [Symbol.dispose]: () => end(),
  };
}

/** Shows a line that goes away again, or none; output of commands is kept until it is needed. */
function oneLine(world: World, first: string, shows: boolean): Reporter {
  const { io, clock, logger } = world;
  const tail = new OutputTail();
  let step = first;
  let stepStart = 0;
  let count: Counted | undefined;
  let detail: string | undefined;
  let line: LiveLine | undefined;
  let over = false;
  const state = () => {
    const stepMs = clock.monotonic() - stepStart;
    return { step, ms: watch.elapsed, stepMs, count, said: detail ?? tail.lines().at(-1) };
  };
  // What draws is loaded only when it is needed.
  const watch = new Stopwatch(clock, PATIENCE_MS, async () => {
    if (!shows) return;
    const { liveLine } = await import('./live-line.ts');
    if (!over) line = liveLine(world, state);
  });
  const end = (summary?: string) => {
    if (over) return;
    over = true;
    const took = watch.stop();
    line?.close();
    if (shows && summary !== undefined && took !== undefined)
      logger.info(`${visible(summary)} in ${tookText(took)}`);
  };
  return {
    step(text) {
      watch.start();
      step = text;
      stepStart = clock.monotonic();
      count = undefined;
      detail = undefined;
      tail.clear();
    },
    detail(text) {
      detail = text;
    },
    count(done) {
      if (count === undefined) {
        watch.start();
        stepStart = clock.monotonic();
      }
      count = done;
    },
    output(data) {
      watch.start();
      tail.add(data);
    },
    fail() {
      for (const text of tail.lines()) io.stderr.write(`${text}\n`);
      tail.clear();
    },
    note: (text) => logger.info(visible(text)),
    end,
    [Symbol.dispose]: () => end(),
  };
}

/** Measures from the first start; says once when it has taken so long that somebody waits. */
class Stopwatch {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #onLong: (() => void) | undefined;
  #start: number | undefined;
  #timer: Disposable | undefined;
  #long = false;

  constructor(clock: Clock, patienceMs: number, onLong?: () => void) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#onLong = onLong;
  }

  get runs(): boolean {
    return this.#start !== undefined;
  }

  /** Milliseconds. */
  get elapsed(): number {
    return this.#start === undefined ? 0 : this.#clock.monotonic() - this.#start;
  }

  start(): void {
    if (this.runs) return;
    this.#start = this.#clock.monotonic();
    this.#timer = this.#clock.later(this.#patienceMs, () => {
      this.#long = true;
      this.#onLong?.();
    });
  }

  /** @returns how long it took, in milliseconds; undefined when nobody had to wait. */
  stop(): number | undefined {
    this.#timer?.[Symbol.dispose]();
    return this.#long ? this.elapsed : undefined;
  }
}
