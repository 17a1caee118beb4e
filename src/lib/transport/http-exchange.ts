/** One request and its answer over a connection. */
import { type Duplex, Readable } from 'node:stream';
import { answerParser, type HttpHead } from '../wire/http.ts';
import type { HttpRequest, HttpUpgrade } from './http.ts';
import { discard } from './http-idle.ts';
import { type Sending, sendBody } from './http-send.ts';

/** Pieces of an answer, as large as one read, that wait for their reader before the connection is not read any more. */
const WAITING = 4;

export interface ExchangeOptions {
  /** The head of the request. */
  readonly head: string;
  readonly request: HttpRequest;
  /** Whether the raw connection is asked for. */
  readonly upgrade: boolean;
  readonly signal: AbortSignal;
  /** Gets the connection back when it can carry another request. */
  readonly keep: (connection: Duplex) => void;
}

export interface Exchange {
  /** The head of the answer, or the connection itself. */
  readonly outcome: Promise<HttpUpgrade>;
  /** Whether any byte of an answer has come. */
  isAnswered(): boolean;
}

/** Sends `request` now. The connection is closed when the exchange fails or nothing can follow it. */
export function exchange(connection: Duplex, options: ExchangeOptions): Exchange {
  const { head, request, upgrade, signal, keep } = options;
  const { promise: outcome, resolve, reject } = Promise.withResolvers<HttpUpgrade>();
  let answered = false;
  let over = false;
  let answer: HttpHead | undefined;
  let body: Readable | undefined;
  let sending: Sending | undefined;
  const parser = answerParser(
    { method: request.method, upgrade },
    {
      head(received) {
        answer = received;
        const { status, headers } = received;
        if (status === 101) return;
        // The rest would be read by nobody.
        if (status >= 300) sending?.stop();
        body = answerBody();
        resolve({ upgraded: false, answer: { status, headers, body } });
      },
      data(piece) {
        if (body?.push(piece) === false) connection.pause();
      },
    },
  );

  function answerBody(): Readable {
    const stream = new Readable({
      // Bytes would be joined, which copies them.
      objectMode: true,
      highWaterMark: WAITING,
      read() {
        if (!over) connection.resume();
      },
      destroy(error, done) {
        if (!over) abandon();
        done(error);
      },
    });
    // It may break before its reader comes, who hears it then.
    return stream.on('error', () => undefined);
  }

  const onData = (chunk: Buffer) => {
    answered = true;
    let taken: number | undefined;
    try {
      taken = parser.push(chunk);
    } catch (error) {
      fail(error as Error);
      return;
    }
    if (taken === undefined || over) return;
    const rest = chunk.subarray(taken);
    if (answer?.status === 101) handOver(rest);
    else complete(answer?.persistent === true && rest.length === 0);
  };
  const onEnd = () => {
    if (parser.finish()) complete(false);
    else fail(cut());
  };
  const onClose = () => fail(cut());
  const onAbort = () => fail(signal.reason instanceof Error ? signal.reason : new Error('aborted'));

  function detach(): void {
    over = true;
    connection.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose);
    signal.removeEventListener('abort', onAbort);
  }

  function abandon(): void {
    detach();
    sending?.stop();
    discard(connection);
  }

  function fail(error: Error): void {
    abandon();
    reject(error);
    const breakBody = (why: Error) => body?.destroy(why);
    if (request.explain === undefined) breakBody(error);
    else request.explain(error).then(breakBody, breakBody);
  }

  function complete(isReusable: boolean): void {
    if (isReusable && sending?.isDone() !== false) {
      detach();
      keep(connection);
    } else abandon();
    body?.push(null);
  }

  /** As if nobody had listened to it: neither flowing nor paused. */
  function handOver(first: Buffer): void {
    detach();
    connection.allowHalfOpen = true;
    // It would go on flowing without listeners. There is a setter, which node:http uses for this.
    Object.assign(connection, { readableFlowing: null });
    if (first.length > 0) connection.unshift(first);
    resolve({ upgraded: true, connection });
  }

  connection.on('data', onData).on('end', onEnd).on('error', fail).on('close', onClose);
  signal.addEventListener('abort', onAbort);
  const { body: sent } = request;
  connection.write(typeof sent === 'string' ? `${head}${sent}` : head);
  if (typeof sent === 'object') sending = sendBody(sent, connection, fail);
  return { outcome, isAnswered: () => answered };
}

function cut(): Error {
  return Object.assign(new Error('the connection ended before the answer did'), { code: 'ECONNRESET' });
}
