/** Large answers of HTTP, read off the connection by ourselves: the parser of node:http copies every piece of a body. */
import { once } from 'node:events';
import { type Duplex, Readable } from 'node:stream';
import { chunkedParser } from '../wire/http-chunked.ts';
import type { Connect, HttpAnswer, HttpRequest } from './http.ts';

/** Longest head of an answer. */
const HEAD_LIMIT = 64 * 1024;
const HEAD_END = '\r\n\r\n';
/** Pieces that wait for their reader before the connection is not read any more. */
const WAITING = 4;

/** What a failure of the connection is told as. */
export type Explain = (error: unknown) => Promise<Error>;

/** Sends a request without a body over a connection of its own. Like `request` of http.ts in all else; the body's pieces are not joined. */
export async function download(
  connect: Connect,
  host: string,
  { method, path, headers = {} }: HttpRequest,
  signal: AbortSignal,
  explain: Explain,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const connection = connect();
  const stop = () => connection.destroy(new Error('aborted'));
  signal.addEventListener('abort', stop, { once: true });
  connection.once('close', () => signal.removeEventListener('abort', stop));
  const fields = Object.entries({ host, connection: 'close', ...headers });
  connection.write(
    [`${method} ${path} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`), '', ''].join(
      '\r\n',
    ),
  );
  try {
    const head = await readHead(connection);
    return { ...head, body: bodyOf(connection, head.headers, explain) };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Reads the head of an answer; what came after it goes back to the connection. */
async function readHead(connection: Duplex): Promise<Omit<HttpAnswer, 'body'>> {
  let read: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = connection.read() as Buffer | null;
    if (chunk === null) {
      if (connection.readableEnded || connection.destroyed) throw cut();
      await Promise.race([once(connection, 'readable'), once(connection, 'end'), once(connection, 'close')]);
      continue;
    }
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf(HEAD_END);
    if (end < 0 && read.length > HEAD_LIMIT) throw new Error('the head of an answer is too long');
    if (end < 0) continue;
    const rest = read.subarray(end + HEAD_END.length);
    if (rest.length > 0) connection.unshift(rest);
    return parseHead(read.toString('latin1', 0, end));
  }
}

function parseHead(text: string): Omit<HttpAnswer, 'body'> {
  const [first = '', ...lines] = text.split('\r\n');
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1];
  if (status === undefined) throw new Error('what answers does not speak HTTP');
  const pairs = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return { status: Number(status), headers: Object.fromEntries(pairs) };
}

/** A body that is chunked, has a length, or ends with the connection. Fails when the connection ends before it does. */
function bodyOf(connection: Duplex, headers: HttpAnswer['headers'], explain: Explain): Readable {
  const body: Readable = new Readable({
    objectMode: true,
    highWaterMark: WAITING,
    read: () => connection.resume(),
    destroy(error, done) {
      connection.destroy();
      done(error);
    },
  });
  const fail = (error: unknown) => {
    explain(error).then(
      (explained) => body.destroy(explained),
      (failed: Error) => body.destroy(failed),
    );
  };
  const take = receiver(headers, (piece) => {
    if (!body.push(piece)) connection.pause();
  });
  let over = false;
  const receive = (bytes: Buffer) => {
    if (over) return;
    try {
      over = take(bytes);
    } catch (error) {
      fail(error);
      return;
    }
    if (over) body.push(null);
  };
  // One of no length is over already.
  receive(Buffer.alloc(0));
  connection.on('data', receive);
  connection.once('error', fail);
  connection.once('end', () => {
    if (over) return;
    if (take.needsEnd) body.push(null);
    else fail(cut());
  });
  return body;
}

interface Receiver {
  /** Takes bytes of the connection; true once the body is over. */
  (bytes: Uint8Array): boolean;
  /** Only the end of the connection ends the body. */
  readonly needsEnd: boolean;
}

function receiver(headers: HttpAnswer['headers'], onData: (piece: Uint8Array) => void): Receiver {
  if (headers['transfer-encoding'] === 'chunked')
    return Object.assign(chunkedParser(onData), { needsEnd: false });
  const length = headers['content-length'];
  let left = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  const take = (bytes: Uint8Array) => {
    if (bytes.length > 0) onData(bytes.subarray(0, left));
    left -= bytes.length;
    return left <= 0;
  };
  return Object.assign(take, { needsEnd: length === undefined });
}

function cut(): Error {
  return Object.assign(new Error('the connection ended before the answer did'), { code: 'ECONNRESET' });
}
