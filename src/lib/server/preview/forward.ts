/** One request and its answer, to and from a program in a sandbox: both are streams, and nothing waits for the whole. */
import { type ClientRequest, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { joinStreams } from '../../transport/join.ts';
import type { Access } from './access.ts';
import { pairs, withForwarded, withoutHops } from './headers.ts';

/**
 * Resolves when the answer is sent or cannot be sent any more. `connection` is used for this request alone.
 * @throws whatever kept the program from answering; once an answer has begun the client's connection breaks instead.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { url, headers, cookie }: Access,
  connection: Duplex,
): Promise<void> {
  const outgoing = send({
    method: request.method,
    path: url,
    headers: withForwarded([...withoutHops(headers), ...framing(request)], request),
    createConnection: () => connection,
  });
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing.once('response', resolve);
  // It may fail again while the answer is read, which ends the answer.
  outgoing.on('error', reject);
  outgoing.once('close', () => reject(new Error('the connection was closed')));
  upload(request, outgoing);
  try {
    const answer = await answered;
    const added = cookie === undefined ? [] : ['Set-Cookie', cookie];
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
      ...withoutHops(answer.rawHeaders),
      ...added,
    ]);
    response.flushHeaders();
    await pipeline(answer, response);
  } catch (error) {
    if (!response.headersSent && !response.destroyed) throw error;
    response.destroy();
  } finally {
    outgoing.destroy();
  }
}

/** A body whose length nobody knows goes on as it came. */
function framing({ headers }: IncomingMessage): string[] {
  return headers['transfer-encoding'] === undefined ? [] : ['Transfer-Encoding', 'chunked'];
}

/** Not a pipeline: a program may answer before it has read everything, and what it says must still arrive. */
function upload(request: IncomingMessage, outgoing: ClientRequest): void {
  const { headers } = request;
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  request.pipe(outgoing);
}

/** What asked for an upgrade: its connection, and what came behind the request. */
export interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** Hands the request over as it came and joins both connections; resolves when they have ended. The program answers. */
export async function forwardUpgrade(
  { request, socket, head }: Upgrading,
  { url, headers }: Access,
  connection: Duplex,
): Promise<void> {
  const lines = pairs(withForwarded(headers, request)).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.write(`${request.method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  if (head.length > 0) connection.write(head);
  await joinStreams(socket, connection);
}
