import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Env, Settings } from '../../../src/lib/cli/context.ts';
import { lineLogger } from '../../../src/lib/cli/logger.ts';
import { type MemoryIo, memoryIo } from '../../../src/lib/cli/memory-io.ts';
import { progressMode, type Reporter, startProgress } from '../../../src/lib/cli/progress.ts';

/** How the line looks when it has just been taken away. */
const GONE = '\r\u001b[J';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface World {
  readonly io: MemoryIo;
  readonly progress: Reporter;
  /** Lets time go by, and what is loaded meanwhile. */
  pass(ms: number): Promise<void>;
  readonly said: () => string;
}

function world(
  options: { tty?: boolean; env?: Env; settings?: Partial<Settings>; json?: boolean; columns?: number } = {},
): World & { readonly mode: string } {
  const { tty = true, env = { TERM: 'xterm', LANG: 'C.UTF-8' }, json = false, columns = 60 } = options;
  const io = memoryIo({ tty: { stderr: tty }, columns });
  const settings: Settings = {
    quiet: false,
    debug: false,
    noInput: false,
    yes: false,
    backend: undefined,
    color: false,
    words: [],
    ...options.settings,
  };
  const clock = {
    now: () => new Date(),
    monotonic: () => Date.now(),
    later(ms: number, act: () => void) {
      const timer = setTimeout(act, ms);
      return { [Symbol.dispose]: () => clearTimeout(timer) };
    },
  };
  const owner = {
    context: { io, env, settings, clock, logger: lineLogger(io.stderr, settings) },
    wantsJson: json,
  };
  return {
    io,
    mode: progressMode(owner),
    progress: startProgress(owner),
    async pass(ms) {
      await vi.advanceTimersByTimeAsync(ms);
      await vi.dynamicImportSettled();
    },
    said: () => io.stderr.text,
  };
}

test.each([
  [{}, 'live'],
  [{ json: true }, 'live'],
  [{ tty: false }, 'lines'],
  [{ env: { TERM: 'dumb' } }, 'lines'],
  [{ env: { TERM: 'xterm', CI: 'true' } }, 'lines'],
  [{ env: { TERM: 'xterm', CI: 'false' } }, 'live'],
  [{ tty: false, json: true }, 'silent'],
  [{ env: { TERM: 'xterm', CI: '1' }, json: true }, 'silent'],
  [{ settings: { quiet: true } }, 'silent'],
  [{ settings: { quiet: true }, tty: false }, 'silent'],
] as const)('%j is %s', (options, mode) => {
  expect(world(options).mode).toBe(mode);
});

test.each([
  [true, 300],
  [false, 2000],
])('on a terminal (%s) what ends within %i ms says nothing', async (tty, patience) => {
  const { progress, pass, said } = world({ tty });
  progress.step('making');
  await pass(patience - 1);
  progress.step('cloning');
  progress.end('created');
  await pass(1000);
  expect(said()).toBe('');
});

test('a terminal gets one line that counts, is drawn ten times a second and goes away', async () => {
  const { progress, pass, said } = world();
  progress.step('copying');
  await pass(300);
  progress.count({ files: 2, bytes: 3 * 1024 * 1024 });
  await pass(700);
  const frames = said().split('\r').slice(1);
  expect(frames[0]).toBe('⠋ 0s copying\u001b[K');
  expect(frames.at(-1)).toBe('⠧ 1s copying, 2 files, 3M, 4.3M/s\u001b[K');
  expect(frames.length).toBeLessThanOrEqual(9);
  expect(said()).not.toContain('\n');
  progress.end('copied');
  expect(said().endsWith(`${GONE}copied in 1.0s\n`)).toBe(true);
  const after = said();
  await pass(1000);
  expect(said()).toBe(after);
});

test('the line is never mixed with anything else on stderr', async () => {
  const { io, progress, pass, said } = world();
  progress.step('working');
  await pass(300);
  io.stderr.write('warning: something\n');
  expect(said().endsWith(`working\u001b[K${GONE}warning: something\n`)).toBe(true);
  await pass(100);
  expect(said().endsWith('working\u001b[K')).toBe(true);
  progress.note('a note');
  expect(said().endsWith(`${GONE}a note\n`)).toBe(true);
  // Already gone: nothing is erased twice, for what stands there now is not ours.
  io.stderr.write('x\n');
  expect(said().endsWith('a note\nx\n')).toBe(true);
  progress.end();
  expect(said().endsWith('x\n')).toBe(true);
});

test('disposing without an end takes the line away and leaves nothing, as after a failure', async () => {
  const before = process.listenerCount('exit');
  const { progress, pass, said } = world();
  progress.step('working');
  await pass(400);
  expect(process.listenerCount('exit')).toBe(before + 1);
  progress[Symbol.dispose]();
  expect(said().endsWith(GONE)).toBe(true);
  expect(process.listenerCount('exit')).toBe(before);
});

test('a line that is still there when the process exits is taken away', async () => {
  const before = process.listeners('exit');
  const { progress, pass, said } = world();
  progress.step('working');
  await pass(400);
  const [own] = process.listeners('exit').filter((each) => !before.includes(each));
  own?.call(process, 130);
  expect(said().endsWith(GONE)).toBe(true);
  progress.end();
});

test('what ends while the line is being loaded shows none', async () => {
  const { progress, pass, said } = world();
  progress.step('working');
  vi.advanceTimersByTime(300);
  progress.end();
  await pass(1000);
  expect(said()).toBe('');
});

test('the last line of a command stands in the line; its end is shown when it fails', async () => {
  const { progress, pass, said } = world();
  progress.step('setup: npm ci');
  for (let at = 0; at < 5000; at++) progress.output(Buffer.from(`line ${at}\n`));
  progress.output(Buffer.from('\u001b[31m10%\r\u001b[2K70%\u001b[0m \u0007'));
  await pass(300);
  expect(said()).toBe('\r⠋ 0s setup: npm ci: 70% \\x07\u001b[K');
  progress.fail();
  const [, shown = ''] = said().split(GONE);
  const lines = shown.split('\n');
  expect(lines).toHaveLength(21);
  expect(lines[18]).toBe('line 4999');
  expect(lines[19]).toBe('70% \\x07');
  progress.end();
});

test('how far a step is stands in the line, the last word of it, and never in a log', async () => {
  for (const tty of [true, false]) {
    const { progress, pass, said } = world({ tty });
    progress.step('pulling');
    progress.detail('3 % of 5 MB');
    progress.detail('34 % of 5 MB');
    await pass(2000);
    expect(said()).toMatch(tty ? /pulling: 34 % of 5 MB\u001b\[K$/ : /^pulling\n$/);
    progress.step('starting');
    await pass(200);
    if (tty) expect(said()).toMatch(/ starting\u001b\[K$/);
    progress.end();
  }
});

test('the next step does not show what the last one printed', async () => {
  const { progress, pass, said } = world();
  progress.step('one');
  progress.output(Buffer.from('out\n'));
  progress.step('two');
  await pass(300);
  expect(said()).toBe('\r⠋ 0s two\u001b[K');
  progress.fail();
  expect(said()).not.toContain('out');
  progress.end();
});

test('a pipe gets a line for a step that takes long or prints, all output, and the time', async () => {
  const { progress, pass, said } = world({ tty: false });
  progress.step('making');
  await pass(10);
  progress.step('setup: \u001b[2J');
  progress.output(Buffer.from('a\n'));
  progress.output(Buffer.from('b\n'));
  progress.fail();
  progress.step('waiting');
  await pass(2000);
  progress.end('created');
  expect(said()).toBe('setup: \\e[2J\na\nb\nwaiting\ncreated in 2.0s\n');
});

test('silence keeps notes and what explains a failure', async () => {
  const { progress, pass, said } = world({ tty: false, json: true });
  progress.step('setup');
  progress.output(Buffer.from('why\n'));
  await pass(1000);
  progress.note('a note');
  progress.fail();
  progress.end('created');
  expect(said()).toBe('a note\nwhy\n');
});

test('a window that has become narrower is cleared of all rows of the line', async () => {
  const { io, progress, pass, said } = world({ columns: 60 });
  progress.step('x'.repeat(50));
  await pass(300);
  Object.assign(io.stderr, { columns: 20 });
  await pass(100);
  expect(said()).toContain('\u001b[2A\r\u001b[J⠙ 0s xxxxxxxxxxxxx…\u001b[K');
  progress.end();
});
