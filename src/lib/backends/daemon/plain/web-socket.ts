/** A WebSocket over a connection of ours. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

export interface WebSocketRequest {
  /** `ws:`, whatever the connection is. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connect: () => Duplex;
}

/** What came of asking for one. */
export type Opened = { readonly socket: WebSocket } | { readonly status: number };

/** Largest frame; what a terminal prints comes in small ones. */
const FRAME_LIMIT = 16 * 1024 * 1024;

/** Resolves when it is open, or with the status of the answer that refuses it. */
export async function openWebSocket(
  { url, headers, connect }: WebSocketRequest,
  signal: AbortSignal,
): Promise<Opened> {
  const ws = await import('ws');
  return new Promise((resolve, reject) => {
    const socket = new ws.WebSocket(url, {
      headers,
      createConnection: connect,
      maxPayload: FRAME_LIMIT,
      perMessageDeflate: false,
    });
    const giveUp = () => socket.terminate();
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('unexpected-response', (request, { statusCode = 0 }) => {
      request.destroy();
      resolve({ status: statusCode });
    });
    socket.once('open', () => {
      // What comes before anybody listens would be lost.
      socket.pause();
      resolve({ socket });
    });
    socket.on('error', reject);
    socket.once('close', () => signal.removeEventListener('abort', giveUp));
  });
}
