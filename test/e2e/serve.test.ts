/** `sbx serve` as a process: what it leaves when it is stopped and killed, and the command line against it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { send } from '../interop/hotcell/server.ts';
import { type BuiltServer, bin, builtServer, clientOf, KEY } from '../support/built-server.ts';
import { requireOrSkip } from '../support/require.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-serve-'));
const test = requireOrSkip(existsSync(join(bin, '../../dist/run.js')), 'a built sbx');
let count = 0;
const newFolder = (what: string) => join(folder, `${what}-${count++}`);
const states: string[] = [];
const newState = () => {
  const state = newFolder('server');
  states.push(state);
  return state;
};
const started: BuiltServer[] = [];
const start = async (state: string) => {
  const server = await builtServer(state);
  started.push(server);
  return server;
};
/** The built sbx on the server's own machine. */
const locally = (state: string, ...args: readonly string[]) =>
  execFileSync(process.execPath, [bin, ...args], {
    env: { ...process.env, SBX_STATE_DIR: state, SBX_CONFIG_DIR: `${state}/config` },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
const json = async (answer: Promise<Response>) => (await (await answer).json()) as Record<string, unknown>;
const make = (server: BuiltServer, body: object = {}) => json(server.ask('POST', '/sandboxes', body));

afterEach(async () => {
  for (const server of started.splice(0)) {
    server.kill('SIGKILL');
    await server.ended;
  }
});

afterAll(() => {
  for (const state of states) locally(state, 'rm', '--all', '--force', '--yes');
  rmSync(folder, { recursive: true, force: true });
});

describe('the server', () => {
  test('without a key, refuses to listen where others can reach it', async () => {
    const open = builtServer(newState(), { listen: '0.0.0.0:0', key: '' });
    await expect(open).rejects.toThrow('can be reached from elsewhere');
  });

  test('a file without a key in it is no leave to do without one', async () => {
    const open = builtServer(newState(), { flags: ['--api-key-file', '/dev/null'] });
    await expect(open).rejects.toThrow('there is no API key in /dev/null');
  });

  test('takes rates of cost, and several names at once, as a variable has to give them', async () => {
    const cost = ['--cost-cpu-hour', '0.2', '--cost-memory-gb-hour', '0', '--cost-egress-gb', '3'];
    const server = await builtServer(newState(), {
      flags: [...cost, '--allow-host', 'a.example, b.example'],
    });
    started.push(server);
    const asked = { method: 'GET', path: '/info', headers: { host: 'b.example' } };
    const answer = await send({ url: server.url, key: KEY, close: async () => undefined }, asked);
    expect(JSON.parse(answer.text)).toMatchObject({
      costCpuPerHour: 0.2,
      costMemGbPerHour: 0,
      costEgressPerGb: 3,
    });
  });

  test('two do not share a state', async () => {
    const state = newState();
    await start(state);
    await expect(builtServer(state)).rejects.toThrow('another sbx serve uses');
  });

  test('finds its sandboxes again after kill -9, and what ran in them runs on', async () => {
    const state = newState();
    const first = await start(state);
    const { id } = await make(first, { labels: { of: 'before' }, command: ['sleep', '1000'] });
    first.kill('SIGKILL');
    await first.ended;
    const second = await start(state);
    expect(await json(second.ask('GET', `/sandboxes/${id}`))).toMatchObject({
      status: 'running',
      labels: { of: 'before' },
    });
    const events = await (
      await second.ask('POST', `/sandboxes/${id}/exec`, { command: 'pgrep -a sleep' })
    ).text();
    expect(events).toContain('sleep 1000');
  });

  test('killed while it makes one, leaves nothing of it', async () => {
    const state = newState();
    const first = await start(state);
    const mark = join(folder, 'marked');
    const making = make(first, { name: 'half', setup: ['echo begun; sleep 1000'] }).catch(() => mark);
    const client = clientOf(first.url, newFolder('client'));
    // Taken from the first moment on.
    await expect.poll(async () => (await client('create', 'half')).stderr).toContain('taken');
    first.kill('SIGKILL');
    await first.ended;
    await making;
    const second = await start(state);
    expect(await json(second.ask('GET', '/sandboxes'))).toEqual({ sandboxes: [] });
    expect((await make(second, { name: 'half' })).name).toBe('half');
  });

  test('marks what has vanished, and lets it be deleted', async () => {
    const state = newState();
    const first = await start(state);
    const { id, name } = await make(first, { name: 'ghost' });
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    locally(state, 'rm', '--force', String(name));
    const second = await start(state);
    expect(await json(second.ask('GET', `/sandboxes/${id}`))).toMatchObject({ status: 'vanished' });
    expect((await second.ask('POST', `/sandboxes/${id}/exec`, { command: 'true' })).status).toBe(409);
    expect((await second.ask('DELETE', `/sandboxes/${id}`)).status).toBe(200);
  });

  test('stopped, ends streams with the commands behind them and leaves sandboxes running', async () => {
    const state = newState();
    const first = await start(state);
    const { id } = await make(first, { command: ['sleep', '2000'] });
    const answer = await first.ask('POST', `/sandboxes/${id}/exec`, { command: 'echo up; exec sleep 1000' });
    const reader = answer.body?.getReader();
    const begun = await reader?.read();
    expect(Buffer.from(begun?.value ?? []).toString()).toContain('up');
    first.kill('SIGTERM');
    expect(await first.ended).toBe(0);
    const second = await start(state);
    const events = await (
      await second.ask('POST', `/sandboxes/${id}/exec`, { command: 'pgrep -a sleep' })
    ).text();
    expect(events).toContain('sleep 2000');
    expect(events).not.toContain('sleep 1000');
  });

  test('logs routes, neither ids nor keys nor tokens, and tells none of them in its spans', async () => {
    const server = await start(newState());
    const { id } = await make(server);
    const wrong = 'a-wrong-key-0123456789';
    await server.ask('GET', `/sandboxes/${id}?key=${KEY}`);
    await fetch(`${server.url}/sandboxes`, { headers: { 'x-api-key': wrong } });
    await fetch(`${server.url}/sandboxes/${id}/terminal?key=${KEY}`);
    const { token } = await json(server.ask('POST', `/sandboxes/${id}/egress-tokens`));
    await server.ask('POST', `/sandboxes/${id}/expose`, { port: 8000, token: 'of-the-preview' });
    await server.ask('GET', `/sandboxes/${id}/no-such-route/${token}`);
    await server.ask('DELETE', `/sandboxes/${id}/egress-tokens/${token}`);
    await expect.poll(() => server.said()).toContain('"route":"/sandboxes/:id/egress-tokens/:token"');
    const spans = await (await server.ask('GET', '/traces')).text();
    for (const secret of [KEY, wrong, String(token), 'of-the-preview'])
      for (const told of [server.said(), spans]) expect(told).not.toContain(secret);
    expect(server.said()).not.toContain(String(id));
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain(KEY);
  });
});

describe('the command line against it', () => {
  test('works as on this machine', async () => {
    const server = await start(newState());
    const sbx = clientOf(server.url, newFolder('client'));
    expect(await sbx('backend', 'check')).toMatchObject({ exit: 0 });
    expect(
      await sbx('create', 'box', '--env', 'A=b', '--', 'sh', '-c', 'echo main; exec sleep 1000'),
    ).toMatchObject({
      exit: 0,
      stdout: 'box\n',
    });
    expect(await sbx('exec', 'box', '--', 'sh', '-c', 'printf "$A"; exit 7')).toMatchObject({
      exit: 7,
      stdout: 'b',
    });
    expect(await sbx('exec', '--timeout', '1s', 'box', '--', 'sleep', '1000')).toMatchObject({ exit: 124 });
    expect((await sbx('logs', 'box')).stdout).toBe('main\n');
    expect((await sbx('ls', '-q')).stdout).toBe('box\n');
    expect(await sbx('stop', 'box')).toMatchObject({ exit: 0 });
    expect(await sbx('exec', 'box', '--', 'true')).toMatchObject({ exit: 125 });
    expect(await sbx('rm', 'box')).toMatchObject({ exit: 0 });
    expect(await sbx('exec', 'box', '--', 'true')).toMatchObject({ exit: 125 });
  });

  test('a command that the server ends by stopping is no success and no signal of its own', async () => {
    const server = await start(newState());
    const sbx = clientOf(server.url, newFolder('client'));
    await sbx('create', 'box');
    const running = sbx('exec', 'box', '--', 'sh', '-c', 'touch begun; exec sleep 1000');
    await expect.poll(async () => (await sbx('files', 'stat', 'box', 'begun')).exit).toBe(0);
    server.kill('SIGTERM');
    expect(await running).toMatchObject({
      exit: 125,
      stderr: expect.stringContaining('the server is stopping'),
    });
  });

  test('says what is wrong when the server is gone or refuses the key', async () => {
    const server = await start(newState());
    const sbx = clientOf(server.url, newFolder('client'));
    await sbx('ls');
    const other = clientOf(server.url, newFolder('client'));
    await other(
      'backend',
      'add',
      'wrong',
      '--type',
      'daemon',
      '--set',
      `url=${server.url}`,
      '--token-env',
      'HOME',
    );
    expect(await other('ls', '--backend', 'wrong')).toMatchObject({
      exit: 4,
      stderr: expect.stringContaining('refuses the API key'),
    });
    await other('config', 'set', 'backends.wrong.url', server.url.replace('//', '//me:secret@'));
    expect(await other('ls', '--backend', 'wrong')).toMatchObject({
      exit: 2,
      stderr: expect.not.stringContaining('secret'),
    });
    await other('config', 'set', 'backends.wrong.url', server.url.replace('http', 'https'));
    expect(await other('ls', '--backend', 'wrong')).toMatchObject({
      exit: 6,
      stderr: expect.stringMatching(/^error: [^\n]*: it speaks no TLS there\nhint: .*\n$/),
    });
    server.kill('SIGKILL');
    await server.ended;
    expect(await sbx('ls')).toMatchObject({
      exit: 6,
      stderr: expect.stringContaining('cannot reach the server'),
    });
    expect(await sbx('exec', 'box', '--', 'true')).toMatchObject({ exit: 125 });
  });
});
