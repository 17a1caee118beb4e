/** Opens TCP connections. Knows nothing of sandboxes: runs on this side and inside a sandbox's network namespace. */
import { connect, type Socket } from 'node:net';
import { hasErrno } from '../errors.ts';

/** Where to connect to. */
export interface TcpTarget {
  readonly port: number;
  /** Default: 127.0.0.1, then ::1. */
  readonly host?: string | undefined;
}

export interface ConnectOptions {
  readonly signal: AbortSignal;
  /** Reads nothing before the socket is resumed: for sockets that are given to another process. */
  readonly paused?: boolean;
}

const LOOPBACKS = ['127.0.0.1', '::1'] as const;

/**
 * A connected socket whose two directions end apart. Rejects with the system's error; where both loopback
 * addresses fail, with that of 127.0.0.1.
 */
export async function connectTcp(target: TcpTarget, options: ConnectOptions): Promise<Socket> {
  if (target.host !== undefined) return connectOne(target.host, target.port, options);
  const [first, second] = LOOPBACKS;
  try {
    return await connectOne(first, target.port, options);
  } catch (error) {
    if (!hasErrno(error, 'ECONNREFUSED')) throw error;
    return await connectOne(second, target.port, options).catch((other: unknown) => {
      throw options.signal.aborted ? other : error;
    });
  }
}

function connectOne(host: string, port: number, { signal, paused = false }: ConnectOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const socket = connect({ host, port, allowHalfOpen: true, noDelay: true });
    if (paused) socket.pause();
    const stop = () => socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    const failed = (error: Error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    };
    signal.addEventListener('abort', stop, { once: true });
    socket.once('error', failed);
    socket.once('connect', () => {
      signal.removeEventListener('abort', stop);
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
