import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { Running } from '../../../src/lib/backend/contract.ts';
import { deriveDial } from '../../../src/lib/backend/derived/dial.ts';
import type { ExecSandbox } from '../../../src/lib/backend/derived/run-guest.ts';
import relay from '../../../src/lib/guest/relay.sh';
import { parseRelayReport, parseRelayTool, type RelayTool, tellsEnd } from '../../../src/lib/guest/relay.ts';

const call = { signal: new AbortController().signal };
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function serve(host: string, onConnection: Parameters<typeof createServer>[1]): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A sandbox that runs commands here; `path` is its PATH. */
function execSandbox(
  path = process.env.PATH,
): ExecSandbox & { readonly ran: string[]; readonly ended: Promise<unknown>[] } {
  const ran: string[] = [];
  const ended: Promise<unknown>[] = [];
  return {
    name: 'box',
    backend: 'host',
    ran,
    ended,
    async exec({ argv: [program, ...args], stdin }): Promise<Running> {
      ran.push(args[2] ?? '');
      const child = spawn(program, args, {
        env: { PATH: path },
        stdio: [stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      });
      const exit = once(child, 'close').then(([code, signal]) =>
        code === null ? { signal: String(signal) } : { code: Number(code) },
      );
      ended.push(exit);
      const { stdout, stderr } = child;
      if (stdout === null || stderr === null) throw new Error('no output');
      return {
        stdout,
        stderr,
        ...(child.stdin === null ? {} : { stdin: child.stdin }),
        signal: async () => undefined,
        terminate: async () => {
          child.kill('SIGKILL');
        },
        wait: () => exit,
      };
    },
  };
}

const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');

/** Tools with the shell that has them. */
const tools = [
  ['perl', 'sh'],
  ['python3', 'sh'],
  ['socat', 'sh'],
  ['node', 'sh'],
  ['nc', 'busybox'],
].filter(([tool = '', shell = '']) =>
  shell === 'busybox'
    ? spawnSync('busybox', ['true']).status === 0
    : spawnSync('sh', ['-c', `${tool} ${tool === 'perl' ? '-v' : tool === 'socat' ? '-V' : '--version'}`])
        .status === 0,
);

describe.each(tools)('relay.sh with %s in %s', (tool, shell) => {
  const start = (port: number) => {
    const [program, first]: [string, string[]] = shell === 'busybox' ? ['busybox', ['ash']] : ['sh', []];
    return spawn(program, [...first, '-c', relay, 'relay', tool, String(port), '127.0.0.1', '::1']);
  };

  it.each(['127.0.0.1', '::1'])(
    'carries 4 MB to %s, ends one direction alone, and gets the answer',
    async (host) => {
      const port = await serve(host, async (socket) => {
        socket.end(digest(await buffer(socket)));
      });
      const data = randomBytes(4 * 1024 * 1024);
      const child = start(port);
      child.stdin.end(data);
      const [answer, said] = await Promise.all([text(child.stdout), text(child.stderr)]);
      expect(answer).toBe(digest(data));
      expect(parseRelayReport(said).status).toEqual({ type: 'connected' });
    },
  );

  // socat and nc end with the port.
  it.skipIf(tool === 'socat' || tool === 'nc')('goes on sending after the other side has ended', async () => {
    const heard = Promise.withResolvers<string>();
    const port = await serve('127.0.0.1', (socket) => {
      socket.end('first');
      heard.resolve(text(socket));
    });
    const child = start(port);
    expect(await text(child.stdout)).toBe('first');
    child.stdin.end('second');
    expect(await heard.promise).toBe('second');
  });

  it.runIf(tellsEnd(tool as RelayTool))('tells an end from a break', async () => {
    const port = await serve('127.0.0.1', (socket) => socket.once('data', () => socket.resetAndDestroy()));
    const child = start(port);
    child.stdin.on('error', () => undefined).write('x');
    expect(parseRelayReport(await text(child.stderr))).toEqual({
      status: { type: 'connected' },
      ended: false,
    });
    const proper = start(await serve('127.0.0.1', (socket) => socket.end()));
    proper.stdin.end();
    expect(parseRelayReport(await text(proper.stderr)).ended).toBe(true);
  });

  it('says that nothing listens', async () => {
    const child = start(1);
    expect(parseRelayReport(await text(child.stderr)).status).toEqual({ type: 'refused' });
  });
});

it('bash relays where there is nothing better', async () => {
  const port = await serve('127.0.0.1', (socket) => socket.once('data', (data) => socket.end(`got ${data}`)));
  const child = spawn('sh', ['-c', relay, 'relay', 'bash', String(port), '127.0.0.1']);
  child.stdin.end('x');
  expect(await text(child.stdout)).toBe('got x');
});

describe('a derived dial', () => {
  it('is a duplex stream whose directions end apart, and looks for a tool once', async () => {
    const sandbox = execSandbox();
    const dial = deriveDial(sandbox);
    const port = await serve('127.0.0.1', async (socket) => {
      socket.end(`${await text(socket)}!`);
    });
    for (const said of ['one', 'two']) {
      const stream = await dial({ port }, call);
      stream.end(said);
      expect(await text(stream)).toBe(`${said}!`);
    }
    expect(sandbox.ran).toEqual(['sbx-relay-probe', 'sbx-relay', 'sbx-relay']);
  });

  it('fails when the other side breaks the connection, and does not end', async () => {
    const port = await serve('127.0.0.1', (socket) => {
      socket.write('half');
      socket.once('data', () => socket.resetAndDestroy());
    });
    const stream = await deriveDial(execSandbox())({ port }, call);
    stream.once('data', () => stream.write('x'));
    await expect(text(stream)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('is unreachable when nothing listens', async () => {
    await expect(deriveDial(execSandbox())({ port: 1 }, call)).rejects.toMatchObject({
      code: 'unreachable',
      message: 'nothing listens on port 1 in the sandbox',
    });
  });

  it('names what to install where there is no tool', async () => {
    await expect(deriveDial(execSandbox('/nowhere'))({ port: 1 }, call)).rejects.toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('socat'),
    });
  });

  it('ends the relay when the stream is destroyed', async () => {
    const sandbox = execSandbox();
    const gone = Promise.withResolvers<void>();
    const port = await serve('127.0.0.1', (socket) => {
      socket.on('error', () => undefined);
      socket.once('close', () => gone.resolve());
      socket.resume().once('end', () => socket.end());
    });
    const stream = await deriveDial(sandbox)({ port }, call);
    stream.destroy();
    await gone.promise;
    await Promise.all(sandbox.ended);
  });
});

it('takes only tools and status lines that it knows', () => {
  expect(parseRelayTool('perl\n')).toBe('perl');
  expect(parseRelayTool('rm -rf /\n')).toBeUndefined();
  expect(parseRelayReport('noise\nconnected\n')).toEqual({ status: { type: 'connected' }, ended: false });
  expect(parseRelayReport('connected\nnoise\nended\n').ended).toBe(true);
  expect(parseRelayReport('ended\nconnected\n').ended).toBe(false);
  expect(parseRelayReport('connect')).toEqual({ ended: false });
  expect(parseRelayReport('failed no route\n').status).toEqual({ type: 'failed', why: 'no route' });
});
