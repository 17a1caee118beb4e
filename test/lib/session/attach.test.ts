import { afterEach, describe, expect, test, vi } from 'vitest';
import { SbxError } from '../../../src/lib/errors.ts';
import { attach } from '../../../src/lib/session/attach.ts';
import { parseDetachKeys } from '../../../src/lib/session/detach-keys.ts';
import { MOST_KEPT } from '../../../src/lib/session/key-queue.ts';
import { KEEP_ALIVE, KEYS_UNANSWERED } from '../../../src/lib/session/link-watch.ts';
import {
  type MemoryChannel,
  memoryChannel,
  memoryTerminal,
  requestFor,
} from '../../support/memory-session.ts';

const never = new AbortController().signal;
const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 1 });
const shows = (terminal: { readonly shown: string }, text: string) =>
  until(() => expect(terminal.shown).toContain(text));
const lost = { reason: 'lost', error: new Error('cut') } as const;
const unreachable = () => new SbxError('unreachable', 'no way there');

function start(
  channels: (MemoryChannel | Error)[],
  more: Parameters<typeof requestFor>[1] = {},
  signal = never,
) {
  const terminal = memoryTerminal();
  const request = requestFor(channels, more);
  const left = attach(request, { ...terminal, signal });
  return { terminal, request, left };
}

afterEach(() => void vi.useRealTimers());

describe('attached', () => {
  test('bytes go both ways, raw, and the first size is that of the window', async () => {
    const channel = memoryChannel();
    const { terminal, request, left } = start([channel], { isNew: true });
    await until(() => expect(terminal.input.isRaw).toBe(true));
    channel.print('$ \xff\x00');
    await shows(terminal, '$ \xff\x00');
    terminal.input.write(Buffer.from('ls\x03\xff\r', 'latin1'));
    await until(() => expect(channel.got).toBe('ls\x03\xff\r'));
    expect(request.dialed).toEqual([{ cols: 80, rows: 24 }]);
    // Whoever types has its size, also when another client had another one before.
    expect(channel.sizes).toEqual([{ cols: 80, rows: 24 }]);
    terminal.resize({ cols: 40, rows: 10 });
    expect(channel.sizes.at(-1)).toEqual({ cols: 40, rows: 10 });
    terminal.input.write('\x10\x11');
    expect(await left).toEqual({ reason: 'detached' });
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a window that changes while it is dialed is no surprise', async () => {
    const channel = memoryChannel();
    const dialing = Promise.withResolvers<void>();
    const terminal = memoryTerminal();
    const request = requestFor([channel], { isNew: true });
    const { dial } = request;
    const slow = {
      ...request,
      dial: (...args: Parameters<typeof dial>) => dialing.promise.then(() => dial(...args)),
    };
    const left = attach(slow, { ...terminal, signal: never });
    terminal.resize({ cols: 100, rows: 30 });
    dialing.resolve();
    await until(() => expect(channel.sizes).toEqual([{ cols: 100, rows: 30 }]));
    channel.end({ reason: 'ended' });
    await left;
  });

  test('all that was printed is shown before the end', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel]);
    await until(() => expect(terminal.input.isRaw).toBe(true));
    channel.print(`${'x'.repeat(300_000)}bye`);
    channel.end({ reason: 'ended', exit: { code: 7 } });
    expect(await left).toEqual({ reason: 'ended', exit: { code: 7 } });
    expect(terminal.shown).toContain(`${'x'.repeat(300_000)}bye`);
  });

  test.each([
    ['another client takes over', { reason: 'taken' }, { reason: 'taken' }],
    ['the other side closes', { reason: 'closed' }, { reason: 'detached' }],
  ] as const)('%s', async (_what, end, expected) => {
    const channel = memoryChannel();
    const { left } = start([channel]);
    channel.end(end);
    expect(await left).toEqual(expected);
  });

  test('modes that the program put on are off when it is left, and no sooner', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel]);
    channel.print('\x1b[?1049h\x1b[?1002;1006h\x1b[?25lvim');
    await shows(terminal, 'vim');
    terminal.input.write('\r~.');
    await left;
    const after = terminal.shown.slice(terminal.shown.indexOf('vim'));
    expect(after).toContain('\x1b[?1002;1006l');
    expect(after).toContain('\x1b[?1049l');
    expect(after).toContain('\x1b[?25h');
  });

  test('a signal leaves', async () => {
    const controller = new AbortController();
    const channel = memoryChannel();
    const { terminal, left } = start([channel], {}, controller.signal);
    channel.print('x');
    await shows(terminal, 'x');
    controller.abort();
    expect(await left).toEqual({ reason: 'interrupted' });
    expect(await channel.closed).toEqual({ reason: 'closed' });
    expect(terminal.input.isRaw).toBe(false);
  });

  test('a terminal that is gone leaves', async () => {
    const { terminal, left } = start([memoryChannel()]);
    terminal.input.end();
    expect(await left).toEqual({ reason: 'terminal gone' });
  });

  test('what fails to connect at first is thrown, and the terminal is as before', async () => {
    const { terminal, left } = start([unreachable()]);
    await expect(left).rejects.toThrow('no way there');
    expect(terminal.input.isRaw).toBe(false);
  });

  test('read-only passes on neither keys nor sizes', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel], { readOnly: true });
    channel.print('x');
    await shows(terminal, 'x');
    terminal.input.write('rm -rf /\r');
    terminal.resize({ cols: 10, rows: 10 });
    terminal.input.write('\x10\x11');
    await left;
    expect(channel.got).toBe('');
    expect(channel.sizes).toEqual([]);
    expect(channel.redraws).toEqual([]);
  });

  test('~? helps and is not passed on', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel], { keys: parseDetachKeys('ctrl-a,d') });
    terminal.input.write('~?a\r');
    await until(() => expect(channel.got).toBe('a\r'));
    terminal.input.write('~.');
    await left;
    expect(terminal.shown).toContain('Ctrl-A d leaves');
  });

  test('a key that begins the detach keys and is followed by nothing is passed on after a moment', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel]);
    terminal.input.write('a\x10');
    await until(() => expect(channel.got).toBe('a\x10'));
    terminal.input.write('\x11b');
    await until(() => expect(channel.got).toBe('a\x10\x11b'));
    channel.end({ reason: 'ended' });
    await left;
  });

  test('a program that does not read holds up neither output nor the way out', async () => {
    const channel = memoryChannel();
    channel.stall();
    const { terminal, left } = start([channel]);
    terminal.input.write('x'.repeat(1_000_000));
    channel.print('still here');
    await shows(terminal, 'still here');
    terminal.input.write('\x10\x11');
    expect(await left).toEqual({ reason: 'detached' });
  });

  test('a large paste arrives whole', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel]);
    const paste = Array.from({ length: 100_000 }, (_, index) => `line ${index}\n`).join('');
    terminal.input.write(paste);
    await until(() => expect(channel.got.length).toBe(paste.length));
    expect(channel.got).toBe(paste);
    channel.end({ reason: 'ended' });
    await left;
  });
});

describe('replay', () => {
  test('what was printed before comes first, without what asks, and then what is new, once', async () => {
    const channel = memoryChannel();
    channel.print('a long enough end of it');
    const { terminal, left } = start([channel], {
      recording: async () => Buffer.from('old \x1b[6n and a long enough end of it'),
    });
    await shows(terminal, 'end of it');
    channel.print(' and new');
    await shows(terminal, 'and new');
    expect(terminal.shown).toContain('old  and a long enough end of it and new');
    expect(terminal.shown).not.toContain('\x1b[6n');
    channel.end({ reason: 'ended' });
    await left;
  });

  test('the old screen goes up, unless the session is new', async () => {
    const recording = async () => Buffer.from('$ ');
    for (const [isNew, clears] of [
      [false, true],
      [true, false],
    ] as const) {
      const channel = memoryChannel();
      const { terminal, left } = start([channel], { isNew, recording, replay: false });
      if (isNew) await shows(terminal, '$ ');
      channel.print('live');
      await shows(terminal, 'live');
      const other = start([memoryChannel()], { isNew, recording });
      await shows(other.terminal, '$ ');
      expect(other.terminal.shown.includes('\x1b[H\x1b[J')).toBe(clears);
      for (const each of [{ terminal, left }, other]) {
        each.terminal.input.write('\x10\x11');
        await each.left;
      }
    }
  });

  test('without it a shell shows its prompt again: its window has another size until it prints', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel], { replay: false, recording: async () => Buffer.from('old') });
    await until(() => expect(channel.sizes).toEqual([{ cols: 80, rows: 23 }]));
    expect(channel.redraws).toEqual([]);
    channel.print('\r$ ');
    await until(() => expect(channel.redraws).toEqual([{ cols: 80, rows: 24 }]));
    terminal.input.write('\x10\x11');
    await left;
    expect(terminal.shown).not.toContain('old');
  });

  test('a window whose size is changed has its own again when it is left meanwhile', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel], { replay: false });
    await until(() => expect(channel.sizes).toHaveLength(1));
    terminal.input.write('\x10\x11');
    await left;
    expect(channel.redraws).toEqual([{ cols: 80, rows: 24 }]);
  });

  test('a recording that cannot be had is no reason to leave', async () => {
    const channel = memoryChannel();
    const { terminal, left } = start([channel], { recording: async () => Promise.reject(new Error('disk')) });
    channel.print('live');
    await shows(terminal, 'live');
    channel.end({ reason: 'ended' });
    expect(await left).toEqual({ reason: 'ended' });
  });
});

describe('a sandbox that is paused', () => {
  test('is told of, and when it goes on the screen is brought up to date', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isPaused = false;
    let recording = 'before';
    const channel = memoryChannel();
    const { terminal, left } = start([channel], {
      recording: async () => Buffer.from(recording),
      paused: { isPaused: async () => isPaused, resume: 'sbx resume box' },
    });
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE);
    expect(terminal.shown).not.toContain('paused');
    isPaused = true;
    terminal.input.write('x');
    await vi.waitFor(() => expect(channel.got).toBe('x'));
    await vi.advanceTimersByTimeAsync(KEYS_UNANSWERED);
    expect(terminal.shown).toContain(' paused, sbx resume box lets it go on');
    isPaused = false;
    recording = 'before and x';
    await vi.advanceTimersByTimeAsync(1000);
    await vi.waitFor(() => expect(terminal.shown).toMatch(/paused.*\x1b\[2Jbefore and x$/s));
    channel.print(' and new');
    await vi.waitFor(() => expect(terminal.shown).toMatch(/before and x and new$/));
    isPaused = true;
    terminal.input.write('~.');
    await vi.advanceTimersByTimeAsync(KEYS_UNANSWERED);
    terminal.input.write('a~.');
    expect(await left).toEqual({ reason: 'detached' });
  });
});

describe('a connection that is lost', () => {
  test('is dialed again; keys typed meanwhile are sent once, and the screen is brought up to date', async () => {
    const [one, two] = [memoryChannel(), memoryChannel()];
    const dialing = Promise.withResolvers<void>();
    const recorded = Buffer.from('$ screen as it is now');
    const request = requestFor([one, two], { recording: async () => recorded, replay: false });
    const terminal = memoryTerminal();
    const { dial } = request;
    const left = attach(
      {
        ...request,
        async dial(...args) {
          if (request.dialed.length > 0) await dialing.promise;
          return dial(...args);
        },
      },
      { ...terminal, signal: never },
    );
    terminal.input.write('first ');
    await until(() => expect(one.got).toBe('first '));
    one.print('\x1b[?1002h\x1b[3');
    one.end(lost);
    await shows(terminal, 'connection lost');
    terminal.input.write('second ');
    terminal.resize({ cols: 50, rows: 12 });
    await shows(terminal, '\x1b[12;1H');
    dialing.resolve();
    await shows(terminal, 'screen as it is now');
    await until(() => expect(two.got).toBe('second '));
    terminal.input.write('third');
    await until(() => expect(two.got).toBe('second third'));
    expect(one.got).toBe('first ');
    const refreshed = terminal.shown.slice(terminal.shown.lastIndexOf('connection lost'));
    expect(refreshed).toContain('\x1b[?1002l');
    expect(refreshed).toContain('\x1b[H\x1b[2J$ screen as it is now');
    expect(two.sizes.concat(request.dialed.slice(1))).toContainEqual({ cols: 50, rows: 12 });
    terminal.input.write('\x10\x11');
    expect(await left).toEqual({ reason: 'detached' });
  });

  test('~. leaves it', async () => {
    const one = memoryChannel();
    const { terminal, left } = start([one, unreachable(), unreachable(), unreachable()], {
      keys: parseDetachKeys('none'),
    });
    one.end(lost);
    await shows(terminal, 'connection lost');
    terminal.input.write('abc~.');
    expect(await left).toEqual({ reason: 'detached' });
    expect(terminal.shown.slice(terminal.shown.lastIndexOf('connection lost'))).toContain('\x1b[2K');
  });

  test('is given up when its time is over', async () => {
    const one = memoryChannel();
    const { terminal, left } = start([one, unreachable()], { giveUpMs: 0 });
    one.end(lost);
    expect(await left).toMatchObject({ reason: 'lost', error: { message: 'no way there' } });
    expect(terminal.input.isRaw).toBe(false);
  });

  test('is given up at once when it will not get better', async () => {
    const one = memoryChannel();
    const { left } = start([one, new SbxError('not_found', 'the sandbox is gone')]);
    one.end(lost);
    expect(await left).toMatchObject({ reason: 'lost', error: { message: 'the sandbox is gone' } });
  });

  test('keeps no more keys than it should', async () => {
    const [one, two] = [memoryChannel(), memoryChannel()];
    const { terminal, left } = start([one, unreachable(), two]);
    one.end(lost);
    await shows(terminal, 'connection lost');
    terminal.input.write('x'.repeat(MOST_KEPT));
    terminal.input.write('too much');
    await until(() => expect(two.got.length).toBe(MOST_KEPT));
    expect(two.got).not.toContain('too much');
    two.end({ reason: 'ended' });
    await left;
  });

  test('is noticed when the other end does not answer any more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked = 0;
    const silent = memoryChannel(async () => {
      asked += 1;
      return asked === 1 ? undefined : Promise.reject(new Error('no answer'));
    });
    const { terminal, left } = start([silent, new SbxError('not_found', 'gone')]);
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE);
    expect(asked).toBe(1);
    await vi.advanceTimersByTimeAsync(KEEP_ALIVE);
    expect(asked).toBe(2);
    expect(await left).toMatchObject({ reason: 'lost' });
    expect(terminal.input.isRaw).toBe(false);
  });

  test('is looked at soon when keys get no answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked = 0;
    const channel = memoryChannel(async () => void asked++);
    const { terminal, left } = start([channel]);
    await vi.advanceTimersByTimeAsync(0);
    terminal.input.write('x');
    await vi.waitFor(() => expect(channel.got).toBe('x'));
    await vi.advanceTimersByTimeAsync(KEYS_UNANSWERED);
    expect(asked).toBe(1);
    terminal.input.write('y');
    await vi.waitFor(() => expect(channel.got).toBe('xy'));
    channel.print('y');
    await vi.waitFor(() => expect(terminal.shown).toContain('y'));
    await vi.advanceTimersByTimeAsync(KEYS_UNANSWERED);
    expect(asked).toBe(1);
    channel.end({ reason: 'ended' });
    await vi.advanceTimersByTimeAsync(0);
    await left;
  });
});
