/**
 * A process inside a sandbox's network namespace that opens sockets there and gives them, connected or listening,
 * to the client over the IPC channel. It carries no bytes: a socket stays in the namespace that it was made in.
 * Ends with the channel.
 */
import { createServer } from 'node:net';
import { connectTcp } from '../../transport/connect.ts';
import type { HelperReply, HelperRequest } from './netns-protocol.ts';

const ended = new AbortController();

function reply(message: HelperReply): void {
  if (process.connected) process.send?.(message);
}

async function dial({ id, port, host }: HelperRequest): Promise<void> {
  const socket = await connectTcp({ port, host }, { signal: ended.signal, paused: true });
  // Until the handle has left, an error belongs to this process; afterwards the client sees it.
  socket.on('error', (error) => reply(failure(id, error)));
  process.send?.({ type: 'done', id } satisfies HelperReply, socket);
}

async function listen({ id, port, host = '127.0.0.1' }: HelperRequest): Promise<void> {
  const server = createServer({ pauseOnConnect: true }, (early) => early.resetAndDestroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, resolve);
  });
  // This process must not accept: its copy of the listening socket goes as soon as the client has one.
  process.send?.({ type: 'done', id } satisfies HelperReply, server, undefined, () => server.close());
}

function failure(id: number, error: unknown): HelperReply {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return { type: 'failed', id, code, message: error instanceof Error ? error.message : String(error) };
}

process.on('message', (request: HelperRequest) => {
  const work = request.type === 'dial' ? dial(request) : listen(request);
  work.catch((error: unknown) => reply(failure(request.id, error)));
});
process.on('disconnect', () => ended.abort());
reply({ type: 'ready' });
