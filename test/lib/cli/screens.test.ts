/** The screens over backends: what stands on the terminal when things happen underneath. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend, type MemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { showSessions } from '../../../src/lib/cli/screens/sessions.ts';
import { showTop } from '../../../src/lib/cli/screens/top.ts';
import { showList, showPorts, showStats } from '../../../src/lib/cli/screens/watch.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { unreachableBackend } from '../../support/command-line.ts';
import { type FakeSessions, fakeSessions } from '../../support/fake-sessions.ts';
import { type ScreenContext, screenContext, withSessions } from '../../support/screen-context.ts';
import { type ScreenTerminal, screenTerminal } from '../../support/screen-terminal.ts';

const call = { signal: new AbortController().signal };
const spec = { env: {}, labels: {}, limits: {} };
const ALL = { all: true };

let memory: MemoryBackend;
let backend: Backend;
let fakes: Map<string, FakeSessions>;
let terminal: ScreenTerminal;
let over: (() => Promise<void>)[];

beforeEach(() => {
  memory = createMemoryBackend();
  fakes = new Map();
  backend = withSessions(memory, sessionsOf);
  terminal = screenTerminal(110, 30);
  over = [];
});
afterEach(async () => {
  for (const end of over) await end();
  await memory.dispose();
});

function sessionsOf(name: string): FakeSessions {
  const found = fakes.get(name) ?? fakeSessions('main');
  fakes.set(name, found);
  return found;
}

/** Runs a screen until the test is over, and hands it its context. */
function show(run: (context: ScreenContext['context']) => Promise<unknown>, ...more: Backend[]) {
  const { context, signals } = screenContext(terminal, backend, ...more);
  const done = run(context);
  // A test that does not look at the end is not failed by it.
  done.catch(() => undefined);
  over.push(async () => {
    signals.deliver('SIGTERM');
    await done.catch(() => undefined);
  });
  return { done, signals };
}

const nobody = async () => Promise.reject(new Error('nobody was to attach'));

describe('sessions', () => {
  test('n, r and k do what they say, and say so', async () => {
    const sandbox = await backend.create({ ...spec, name: 'box' }, call).then(() => backend.get('box', call));
    show((context) => showSessions(context, sandbox, nobody));
    await terminal.shows('main');
    terminal.type('nbuild\r');
    await terminal.shows("session 'build' runs");
    await terminal.until((text) => /build +running/.test(text));
    terminal.type('r2\r');
    await terminal.shows("session 'build' is now 'build2'");
    await terminal.until((text) => /build2 +running/.test(text));
    terminal.type('ky');
    await terminal.shows("session 'build2' has been ended");
    await terminal.until((text) => !/build2 +running/.test(text));
    expect(sessionsOf('box').asked.filter((what) => !what.startsWith('attach'))).toEqual([
      'create build',
      'rename build build2',
      'kill build2',
    ]);
  });

  test('a refusal is a line, not the end', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const sandbox = await backend.get('box', call);
    show((context) => showSessions(context, sandbox, nobody));
    await terminal.shows('main');
    terminal.type('nmain\r');
    await terminal.shows("session 'main' runs already");
    terminal.type('?');
    await terminal.shows('choose a session');
  });

  test('Enter attaches with the terminal free, and a failure is told afterwards', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const sandbox = await backend.get('box', call);
    const attached: string[] = [];
    show((context) =>
      showSessions(context, sandbox, async ({ name }, session) => {
        attached.push(`${name} ${session} raw=${terminal.modes().raw}`);
        throw new SbxError('conflict', 'it has just ended');
      }),
    );
    await terminal.shows('main');
    terminal.type('\r');
    await terminal.shows('it has just ended');
    expect(attached).toEqual(['box main raw=false']);
  });

  test('a signal while attached ends it with its exit code', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const sandbox = await backend.get('box', call);
    const { done } = show((context) => showSessions(context, sandbox, async () => 143));
    await terminal.shows('main');
    terminal.type('\r');
    expect(await done).toBe(143);
  });

  test('a bug while attached ends the screen and comes out', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const sandbox = await backend.get('box', call);
    const { done } = show((context) => showSessions(context, sandbox, nobody));
    await terminal.shows('main');
    terminal.type('\r');
    await expect(done).rejects.toThrow('nobody was to attach');
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toMatchObject({ raw: false, cursor: true });
  });

  test('a backend without sessions is told before anything is drawn', async () => {
    await memory.create({ ...spec, name: 'box' }, call);
    const sandbox = await memory.get('box', call);
    const bare = { ...sandbox, can: {} };
    const { done } = show((context) => showSessions(context, bare, nobody));
    await expect(done).rejects.toMatchObject({ code: 'unsupported' });
    expect(terminal.written()).toBe(0);
  });
});

describe('top', () => {
  const options = { ...ALL, intervalMs: 20, pace: 0.02 };

  test('shows what each uses and has, and a screen of the chosen one', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    sessionsOf('box').print('main', 'hello from box\r\n');
    show((context) => showTop(context, options, nobody));
    await terminal.shows('hello from box');
    await terminal.until((text) => /box +running +\d+\.\d% +[▁▂▃▄▅▆▇█]/.test(text));
    expect(terminal.lines()[0]).toMatch(/1 running, 1 in all/);
    await terminal.shows('main  sh');
  });

  test('Enter enters the chosen one, and comes back', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const entered: string[] = [];
    const leave = Promise.withResolvers<void>();
    show((context) =>
      showTop(context, options, async ({ name }, session) => {
        entered.push(`${name} ${session}`);
        await leave.promise;
        return undefined;
      }),
    );
    await terminal.until((text) => /box +running/.test(text));
    terminal.type('\r');
    await terminal.until(() => !terminal.modes().alternate);
    expect(entered).toEqual(['box main']);
    leave.resolve();
    await terminal.until((text) => terminal.modes().alternate && /box +running/.test(text));
  });

  test('Tab shows another session, and Enter takes that one', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    const sessions = fakeSessions('main', 'work');
    fakes.set('box', sessions);
    sessions.print('work', 'this is work');
    const entered: string[] = [];
    show((context) =>
      showTop(context, options, async (_sandbox, session) => {
        entered.push(session);
        return undefined;
      }),
    );
    await terminal.shows('work  sh');
    terminal.type('\t');
    await terminal.shows('this is work');
    terminal.type('\r');
    await expect.poll(() => entered).toEqual(['work']);
  });

  test('one that goes away leaves the list, one that stops is not asked any more', async () => {
    await backend.create({ ...spec, name: 'first' }, call);
    await backend.create({ ...spec, name: 'second' }, call);
    show((context) => showTop(context, options, nobody));
    await terminal.until((text) => /first +running/.test(text) && /second +running/.test(text));
    await backend.destroy('first', { force: true }, call);
    await (await memory.get('second', call)).can.power?.stop({ graceMs: 0 }, call);
    await terminal.until((text) => !text.includes('first') && /second +stopped/.test(text));
    terminal.type('\r');
    await terminal.shows("sandbox 'second' is stopped");
  });

  test('a backend that cannot be reached has a line, and the others are shown', async () => {
    await backend.create({ ...spec, name: 'box' }, call);
    show((context) => showTop(context, options, nobody), unreachableBackend('far'));
    await terminal.shows("far: backend 'far' does not answer");
    await terminal.until((text) => /box +running/.test(text));
  });

  test('a sandbox that cannot be asked says why in its row, and the others are asked', async () => {
    await backend.create({ ...spec, name: 'good' }, call);
    await backend.create({ ...spec, name: 'bad' }, call);
    const get = backend.get.bind(backend);
    backend = {
      ...backend,
      async get(ref, own) {
        const sandbox = await get(ref, own);
        if (sandbox.name !== 'bad') return sandbox;
        const fail = async () => Promise.reject(new SbxError('unreachable', 'no answer'));
        return { ...sandbox, name: 'bad', can: { ...sandbox.can, stats: fail } };
      },
    };
    show((context) => showTop(context, options, nobody));
    await terminal.until((text) => /bad +no answer/.test(text) && /good +running +\d/.test(text));
  });

  test('nothing at all is said with what to do', async () => {
    show((context) => showTop(context, options, nobody));
    await terminal.shows('no sandboxes; make one: sbx create');
    terminal.type('\r');
    terminal.type('q');
  });

  test('thirty sandboxes with names that steer terminals fit 40 x 10', async () => {
    terminal = screenTerminal(40, 10);
    for (let at = 0; at < 30; at++)
      await memory.create({ ...spec, name: `box-${'long-'.repeat(at % 7)}${at}` }, call);
    const list = backend.list.bind(backend);
    backend = {
      ...backend,
      async *list(query, own) {
        for await (const info of list(query, own)) yield { ...info, name: `${info.name}\u001b[2J\u202e` };
      },
    };
    show((context) => showTop(context, options, nobody));
    await terminal.shows('box-');
    expect(terminal.lines()[0]).toContain('30 in all');
    terminal.type('\u001b[F');
    await terminal.until((text) => text.includes('box-0'));
    expect(terminal.lines().at(-1)).toContain('Enter shell');
    expect(terminal.text()).not.toContain('\u202e');
  });
});

describe('ls --watch', () => {
  test('follows what is made and removed, and scrolls', async () => {
    terminal = screenTerminal(60, 10);
    show((context) => showList(context, { ...ALL, pace: 0.02 }, false), unreachableBackend('far'));
    await terminal.shows("backend 'far' is missing from the list");
    await terminal.shows('no sandboxes; make one');
    for (let at = 0; at < 12; at++) await backend.create({ ...spec, name: `box-${at}` }, call);
    await terminal.shows('1-6 of 12');
    terminal.type('G');
    await terminal.shows('7-12 of 12');
    expect(terminal.text()).toContain('far');
  });
});

describe('stats --watch', () => {
  test('draws the last values as bars, and says of one that is gone', async () => {
    for (const name of ['one', 'two']) await backend.create({ ...spec, name }, call);
    const sandboxes = await Promise.all(['one', 'two'].map((name) => backend.get(name, call)));
    show((context) => showStats(context, sandboxes, { intervalMs: 20, wide: false }));
    await terminal.until((text) => /one +\d+\.\d% +[▁▂▃▄▅▆▇█]{3}/.test(text) && /two +\d+\.\d%/.test(text));
    await backend.destroy('one', { force: true }, call);
    await terminal.until((text) => /^one: /m.test(text) && !/^one +\d/m.test(text) && /^two +\d/m.test(text));
  });
});

test('ports --watch shows what begins to listen, and quits by q', async () => {
  await backend.create({ ...spec, name: 'box' }, call);
  const sandbox = await backend.get('box', call);
  let ports = [{ port: 3000, address: '::', process: 'node\u001b[2J' }];
  const fake = { ...sandbox, name: 'box', can: { ports: { list: async () => ports } } };
  const { done } = show((context) => showPorts(context, fake, { intervalMs: 5, wide: false }));
  await terminal.until((text) => /3000 +:: +node\\e\[2J/.test(text));
  ports = [...ports, { port: 8080, address: '127.0.0.1', process: 'python3' }];
  await terminal.until((text) => /8080 +127\.0\.0\.1 +python3/.test(text));
  terminal.type('q');
  await done;
  await terminal.until(() => !terminal.modes().alternate);
});
