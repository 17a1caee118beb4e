/** Servers that listen, and that stop. */
import type { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import { hasErrno, SbxError } from '../../errors.ts';
import type { ListenAddress } from '../settings.ts';

/** What every server of ours takes of a client before it has said what it wants. */
export const LIMITS = {
  /** Bytes of a request's head. */
  maxHeaderSize: 16 * 1024,
  /** Milliseconds to send it. */
  headersTimeout: 10_000,
  // A body may be a stream of hours; body.ts watches over those that are kept.
  requestTimeout: 0,
  connectionsCheckingInterval: 1000,
  /** A client that is cut off without a word, such as by a laptop's lid, is noticed although nothing is sent to it. */
  keepAlive: true,
  keepAliveInitialDelay: 30_000,
} as const;

/** The same for the handshake of TLS. */
export const TLS_LIMITS = { ...LIMITS, handshakeTimeout: LIMITS.headersTimeout } as const;

/** How long requests that are under way may take when the server stops, in milliseconds. */
const FAREWELL_MS = 10_000;
const SWEEP_MS = 50;

/** Resolves when the server listens. @param flag names the address. @throws SbxError `conflict` when it cannot be had. */
export async function listen(
  server: Server,
  address: ListenAddress | { readonly fd: number },
  flag: string,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  server.listen(address);
  try {
    await promise;
  } catch (cause) {
    if (!hasErrno(cause, 'EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EINVAL', 'EBADF'))
      throw cause;
    const where = 'fd' in address ? `descriptor ${address.fd}` : `${address.host}:${address.port}`;
    throw new SbxError('conflict', `cannot listen on ${where}: ${cause.message}`, {
      hint: `name another address: ${flag} 127.0.0.1:0`,
      cause,
    });
  }
  server.off('error', reject);
}

/** Takes nothing new; resolves when no request is under way any more, or none that ends. */
export async function closed(server: HttpServer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection whose last answer is over is kept for the next request, which will not come.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const timer = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
  await promise;
  clearTimeout(timer);
  clearInterval(sweep);
}
