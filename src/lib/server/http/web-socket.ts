/** WebSockets: taken from an upgrade, read and written with back-pressure, closed with a reason. */
import type { Duplex, Readable } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { UpgradeExchange } from './route.ts';

export interface SocketLink {
  readonly socket: WebSocket;
  /** Binary frames as bytes and text frames as strings, in their order. Ends when the socket closes; who reads slowly holds the client back. */
  readonly frames: Duplex;
}

/** Why a socket is closed. RFC 6455, 7.4.1; from 4000 on they are ours. */
export const CLOSE = { done: 1000, goingAway: 1001, failed: 1011, taken: 4000 } as const;

/** Bytes of a frame: longer ones close the socket. */
const FRAME_LIMIT = 1024 * 1024;
/** Frames that wait to be read. */
const FRAMES_AHEAD = 8;
/** Milliseconds that a client has to answer a close. */
const CLOSE_MS = 2000;
/** Milliseconds without a word after which the system asks whether the client is still there. */
const KEEP_ALIVE_MS = 30_000;

// Not in the call: its types do not know all of them.
const options = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: FRAME_LIMIT,
  closeTimeout: CLOSE_MS,
};
const sockets = new WebSocketServer(options);

/** @returns undefined for a request that is none for a WebSocket, which has been answered then. */
export function acceptSocket({ request, socket, head }: UpgradeExchange): Promise<SocketLink | undefined> {
  const { promise, resolve } = Promise.withResolvers<SocketLink | undefined>();
  socket.once('close', () => resolve(undefined));
  request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  sockets.handleUpgrade(request, socket, head, (taken) => {
    // At once: frames that nobody hears are lost.
    const frames = createWebSocketStream(taken, {
      readableObjectMode: true,
      readableHighWaterMark: FRAMES_AHEAD,
    });
    // How it ended is told by `close` alone.
    for (const each of [taken, frames]) each.on('error', () => undefined);
    resolve({ socket: taken, frames });
  });
  return promise;
}

/** Sends all of `output` in binary frames, no faster than the client takes them. What comes after it has left goes nowhere. */
export async function sendOutput({ socket }: SocketLink, output: Readable): Promise<void> {
  for await (const chunk of output as AsyncIterable<Buffer>)
    await new Promise<void>((sent) => socket.send(chunk, { binary: true }, () => sent()));
}
