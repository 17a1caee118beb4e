/** What listens inside, and connections to and from it. */
import { randomBytes, randomInt } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Sandbox } from '../../src/lib/backend/contract.ts';
import { call, type Harness, refusal, run, untilReady } from './harness.ts';

/** Listens on HOST and PORT and answers each connection, once its client has ended its direction, with what it got. */
const ECHO = `
import socket, sys, threading
host, port = sys.argv[1], int(sys.argv[2])
server = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind((host, port))
server.listen(64)
print("port", server.getsockname()[1], flush=True)
print("ready", flush=True)
def serve(peer):
    got = b""
    while data := peer.recv(65536):
        got += data
    peer.sendall(got)
    peer.close()
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
`;

/** Sends its first argument to a port, ends its direction, prints the answer. */
const ASK = `
import socket, sys
peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
peer.sendall(sys.argv[2].encode())
peer.shutdown(socket.SHUT_WR)
while data := peer.recv(65536):
    sys.stdout.write(data.decode())
`;

/** The same by the nc of busybox, which listens on every address. */
const ECHO_NC = `
nc -ll -p "$1" -e cat &
until grep -q ":$(printf %04X "$1") .* 0A " /proc/net/tcp /proc/net/tcp6 2> /dev/null; do sleep 0.05; done
echo "port $1"
echo ready
wait`;

type Listener = Awaited<ReturnType<typeof untilReady>> & { readonly port: number };

/** A port that is probably free. */
const anyPort = () => randomInt(20_000, 30_000);

async function echo(
  sandbox: Sandbox,
  host: string,
  port: number | undefined,
  lacks: Lacks,
): Promise<Listener> {
  const text = lacks?.includes('python3')
    ? `set -- ${port ?? anyPort()}; ${ECHO_NC}`
    : `exec python3 -c '${ECHO}' ${host} ${port ?? 0}`;
  const started = await untilReady(sandbox, text);
  return { ...started, port: Number(/port (\d+)/.exec(started.output.text())?.[1]) };
}

type Lacks = Harness['lacks'];

async function ask(stream: Duplex, data: Buffer): Promise<Buffer> {
  stream.end(data);
  return await buffer(stream);
}

export function portsConformance(h: Harness): void {
  const hosts = h.lacks?.includes('python3')
    ? ['0.0.0.0']
    : ['127.0.0.1', '0.0.0.0', ...(h.lacks?.includes('ipv6') ? [] : ['::1'])];

  h.when(h.has('ports'))('shows what listens, on which address, until it no longer does', async () => {
    const sandbox = await h.shared();
    for (const host of hosts) {
      const { running, port } = await echo(sandbox, host, undefined, h.lacks);
      const list = async () => (await sandbox.can.ports?.list(call))?.filter((each) => each.port === port);
      const [found, ...more] = (await list()) ?? [];
      expect(more).toEqual([]);
      expect(found).toMatchObject({
        port,
        address: host === '0.0.0.0' ? expect.stringMatching(/^(0\.0\.0\.0|::)$/) : host,
        pid: expect.any(Number),
        process: expect.stringMatching(/python|nc|busybox/),
      });
      await running.terminate(0);
      await running.wait();
      expect(await list()).toEqual([]);
    }
  });

  h.when(h.has('dial'))(
    'reaches a service on any address, byte for byte, and ends one direction alone',
    async () => {
      const sandbox = await h.shared();
      const data = randomBytes(4 * 1024 * 1024);
      for (const host of hosts) {
        const { running, port } = await echo(sandbox, host, undefined, h.lacks);
        const stream = await sandbox.can.dial?.({ port }, call);
        if (stream === undefined) throw new Error('no dial');
        expect((await ask(stream, data)).equals(data), host).toBe(true);
        await running.terminate(0);
      }
    },
  );

  h.when(h.has('dial'))('carries connections side by side', async () => {
    const sandbox = await h.shared();
    const { running, port } = await echo(sandbox, '127.0.0.1', undefined, h.lacks);
    const answers = Array.from({ length: 20 }, async (_, i) => {
      const stream = await sandbox.can.dial?.({ port }, call);
      return stream && String(await ask(stream, Buffer.from(`client ${i}`)));
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 20 }, (_, i) => `client ${i}`));
    await running.terminate(0);
  });

  h.when(h.has('dial'))('is unreachable while nothing listens, and works once something does', async () => {
    const sandbox = await h.shared();
    const { running, port } = await echo(sandbox, '127.0.0.1', undefined, h.lacks);
    await running.terminate(0);
    await running.wait();
    const { dial } = sandbox.can;
    if (dial === undefined) throw new Error('no dial');
    expect((await refusal(dial({ port }, call))).code).toBe('unreachable');
    const again = await echo(sandbox, '127.0.0.1', port, h.lacks);
    expect(String(await ask(await dial({ port }, call), Buffer.from('now')))).toBe('now');
    await again.running.terminate(0);
  });

  h.when(h.has('listen'))('listens inside and hands out what connects, until it is closed', async () => {
    const sandbox = await h.shared();
    const listener = await sandbox.can.listen?.(
      { port: 0 },
      (socket) => {
        void buffer(socket).then((got) => socket.end(`heard ${String(got)}`));
      },
      call,
    );
    const port = String(listener?.port);
    expect(await run(sandbox, ['python3', '-c', ASK, port, 'hello'])).toMatchObject({
      exit: { code: 0 },
      stdout: Buffer.from('heard hello'),
    });
    expect(
      (
        await refusal(
          sandbox.can.listen?.({ port: Number(port) }, () => undefined, call) ?? Promise.resolve(),
        )
      ).code,
    ).toBe('conflict');
    await listener?.close();
    expect((await run(sandbox, ['python3', '-c', ASK, port, 'hello'])).stderr).toContain(
      'ConnectionRefusedError',
    );
  });
}
