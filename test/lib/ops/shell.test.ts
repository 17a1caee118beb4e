import { afterEach, describe, expect, test, vi } from 'vitest';
import type {
  Exit,
  Sandbox,
  SandboxState,
  SessionInfo,
  SessionSpec,
  Sessions,
} from '../../../src/lib/backend/contract.ts';
import { createContext } from '../../../src/lib/cli/context.ts';
import { memoryIo } from '../../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../../src/lib/cli/signals.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { attachSession, type ShellRequest } from '../../../src/lib/ops/shell.ts';
import { DEFAULT_DETACH_KEYS, parseDetachKeys } from '../../../src/lib/session/detach-keys.ts';
import { type MemoryChannel, memoryChannel, memoryTerminal } from '../../support/memory-session.ts';

afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;
const missing = new SbxError('not_found', 'no such session');
const taken = new SbxError('conflict', 'it runs already');

interface World {
  /** What each attempt to attach gives, the last one from then on. */
  readonly attach: readonly (MemoryChannel | Error)[];
  readonly create?: Error;
  readonly exit?: Exit;
  /** What each look at the sandbox gives, the last one from then on. */
  readonly states?: readonly (SandboxState | Error)[];
}

function worldOf({ attach, create, exit, states = ['running'] }: World) {
  const created: SessionSpec[] = [];
  let attempts = 0;
  let looks = 0;
  const no = () => Promise.reject(new Error('not for this test'));
  const info: SessionInfo = { name: 'main', state: 'ended', exit };
  const sessions: Sessions = {
    async create(spec) {
      if (create !== undefined) throw create;
      created.push(spec);
      return { name: spec.name, state: 'running' };
    },
    async attach() {
      const next = attach[Math.min(attempts++, attach.length - 1)];
      if (next === undefined || next instanceof Error) throw next ?? missing;
      return next;
    },
    list: async () => [info],
    kill: no,
    rename: no,
    recording: async () => new Uint8Array(),
    surroundings: no,
  };
  const sandbox: Sandbox = {
    id: 'b1',
    name: 'box',
    backend: 'memory',
    async info() {
      const state = states[Math.min(looks++, states.length - 1)];
      if (state === undefined || state instanceof Error) throw state ?? missing;
      return { id: 'b1', name: 'box', backend: 'memory', state, createdAt: '', labels: {} };
    },
    exec: no,
    can: { sessions },
  };
  return { sandbox, sessions, created };
}

function run(world: World, more: Partial<ShellRequest> = {}, signals = new SignalHub()) {
  const terminal = memoryTerminal();
  const { sandbox, sessions, created } = worldOf(world);
  const io = memoryIo({ tty: true });
  Object.assign(io.stdin, { stream: () => terminal.input });
  Object.assign(io.stdout, { stream: () => terminal.output });
  const { clock } = createContext({ io, env: {}, signals });
  const host = { io, signal: never, signals, clock };
  const request: ShellRequest = {
    session: 'main',
    create: true,
    command: undefined,
    readOnly: false,
    takeOver: false,
    replay: true,
    keys: parseDetachKeys(DEFAULT_DETACH_KEYS),
    giveUpMs: 0,
    term: 'xterm',
    ...more,
  };
  return { terminal, created, outcome: attachSession(sandbox, sessions, request, host) };
}

/** A channel whose session ends at once. */
function ending(exit?: Exit): MemoryChannel {
  const channel = memoryChannel();
  channel.end({ reason: 'ended', exit });
  return channel;
}

test('a session that runs is not made', async () => {
  const { created, outcome } = run({ attach: [ending({ code: 3 })] });
  expect(await outcome).toEqual({ how: 'ended', exitCode: 3 });
  expect(created).toEqual([]);
});

test('one that is missing is made, with the size and type of the terminal', async () => {
  const { created, outcome } = run({ attach: [missing, ending({ signal: 'KILL' })] });
  expect(await outcome).toEqual({ how: 'ended', exitCode: 137 });
  expect(created).toEqual([{ name: 'main', argv: undefined, size: { cols: 80, rows: 24 }, term: 'xterm' }]);
});

test('one that somebody else makes at the same time is attached to', async () => {
  const { outcome } = run({ attach: [missing, ending({ code: 0 })], create: taken });
  expect(await outcome).toEqual({ how: 'ended', exitCode: 0 });
});

test('one that is over before it can be attached to is over, and not made again', async () => {
  const { created, outcome } = run({ attach: [missing, taken], exit: { code: 9 } });
  expect(await outcome).toEqual({ how: 'ended', exitCode: 9 });
  expect(created).toHaveLength(1);
});

test('a missing one is an error where none is to be made', async () => {
  const { created, outcome } = run({ attach: [missing] }, { create: false });
  await expect(outcome).rejects.toBe(missing);
  expect(created).toEqual([]);
});

test('--read-only makes no session', async () => {
  const { created, outcome } = run({ attach: [missing] }, { readOnly: true });
  await expect(outcome).rejects.toBe(missing);
  expect(created).toEqual([]);
});

test('--command is what a new one runs, and none that runs', async () => {
  const { created, outcome } = run({ attach: [ending({ code: 0 })] }, { command: 'make' });
  await outcome;
  expect(created[0]?.argv).toEqual(['/bin/sh', '-c', 'make']);
  await expect(run({ attach: [ending()], create: taken }, { command: 'make' }).outcome).rejects.toMatchObject(
    { code: 'conflict', hint: expect.stringContaining('--session') },
  );
});

describe('a channel that does not say how its session ended', () => {
  test('is asked for', async () => {
    expect(await run({ attach: [ending()], exit: { code: 4 } }).outcome).toEqual({
      how: 'ended',
      exitCode: 4,
    });
  });

  test.each([
    ['stopped', ['stopped'], undefined, "sandbox 'box' was stopped", 'start it: sbx start box'],
    [
      'stopped, which takes a moment',
      ['running', 'stopped'],
      undefined,
      "sandbox 'box' was stopped",
      'start it: sbx start box',
    ],
    [
      'stopped, by the signal that ended its shell',
      ['stopped'],
      { signal: 'HUP' },
      "sandbox 'box' was stopped",
      'start it: sbx start box',
    ],
    ['removed', ['running', 'stopped', missing], undefined, "sandbox 'box' was removed", 'sbx ls --all'],
  ] as const)('says that its sandbox was %s', async (_what, states, exit, message, hint) => {
    const outcome = await run({ attach: [ending(exit)], states }).outcome;
    expect(outcome).toMatchObject({ how: 'lost', exitCode: 254, error: { message, hint } });
  });

  test('ended by a signal of its own, as long as the sandbox runs', async () => {
    expect(await run({ attach: [ending({ signal: 'HUP' })] }).outcome).toEqual({
      how: 'ended',
      exitCode: 129,
    });
  });

  test('is a lost one, when nobody knows', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { outcome } = run({ attach: [ending()] });
    let known: unknown;
    void outcome.then((how) => {
      known = how;
    });
    await vi.waitFor(() => expect(known).toMatchObject({ how: 'lost', exitCode: 254 }), {
      timeout: 60_000,
      interval: 500,
    });
  });
});

test('a lost connection that cannot be had again is given up', async () => {
  const channel = memoryChannel();
  channel.end({ reason: 'lost', error: new Error('cut') });
  const { outcome } = run({ attach: [channel, new SbxError('unreachable', 'no way there')] });
  expect(await outcome).toMatchObject({ how: 'lost', exitCode: 254, error: { message: 'no way there' } });
});

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGINT', 130],
] as const)('%s leaves, with the exit code of the signal', async (name, exitCode) => {
  const signals = new SignalHub();
  const { terminal, outcome } = run({ attach: [memoryChannel()] }, {}, signals);
  signals.deliver(name);
  expect(await outcome).toEqual({ how: 'interrupted', exitCode });
  expect(terminal.input.isRaw).toBe(false);
  expect(signals.signal.aborted).toBe(false);
});

test('a lost connection to a sandbox that was removed meanwhile is not blamed on the connection', async () => {
  const channel = memoryChannel();
  channel.end({ reason: 'lost', error: new Error('cut') });
  const gone = new SbxError('not_found', "sandbox 'box' is gone");
  const { outcome } = run({ attach: [channel, gone], states: [gone] });
  expect(await outcome).toMatchObject({ exitCode: 254, error: { message: "sandbox 'box' was removed" } });
});
