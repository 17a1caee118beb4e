/** Opens the listening sockets of this machine. */
import { lstat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { hasErrno, SbxError } from '../../errors.ts';

/** Where forwarded ports listen when nothing else is said: reachable from this machine alone. */
export const LOOPBACK = '127.0.0.1';

/** How many ports above a taken one are tried. */
const NEXT_FREE_TRIES = 100;

export interface TcpBinding {
  readonly address: string;
  readonly port: number;
  /** Whether another port will do when this one is taken. */
  readonly orNext: boolean;
}

export interface Bound {
  readonly server: Server;
  /** The port that listens. */
  readonly port: number;
}

/** Listens on TCP. @throws SbxError `conflict` when the port is taken, `failed` when it cannot be had. */
export async function bindTcp(binding: TcpBinding, onConnection: (socket: Socket) => void): Promise<Bound> {
  const { address, port, orNext } = binding;
  const last = orNext && port !== 0 ? Math.min(port + NEXT_FREE_TRIES, 65_535) : port;
  for (let candidate = port; ; candidate++) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
    try {
      await listening(server, { host: address, port: candidate });
    } catch (error) {
      const taken = hasErrno(error, 'EADDRINUSE');
      if (taken && candidate < last) continue;
      throw bindError(address, port, orNext, error);
    }
    const at = server.address();
    return { server, port: at !== null && typeof at === 'object' ? at.port : candidate };
  }
}

/**
 * Listens on a Unix socket that only this user can reach. Replaces a socket that nobody listens on.
 * @throws SbxError `conflict` when anything else has that path.
 */
export async function bindUnix(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  await removeStale(path);
  const server = createServer({ allowHalfOpen: true }, onConnection);
  try {
    await withUmask(0o177, () => listening(server, { path }));
  } catch (error) {
    const long = hasErrno(error, 'EINVAL', 'ENAMETOOLONG');
    const why = long ? 'the path is too long for a socket' : (error as Error).message;
    throw new SbxError('failed', `cannot listen on ${path}: ${why}`, { cause: error });
  }
  return server;
}

/** The mode of a socket comes from the umask at bind, which `listen` does before it returns; a chmod would leave a gap. */
function withUmask<T>(mask: number, run: () => T): T {
  const before = process.umask(mask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}

async function removeStale(path: string): Promise<void> {
  let stat: Awaited<ReturnType<typeof lstat>>;
  try {
    stat = await lstat(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw new SbxError('failed', `cannot listen on ${path}: ${(error as Error).message}`, { cause: error });
  }
  if (!stat.isSocket()) throw new SbxError('conflict', `${path} is there and no socket; it is left alone`);
  const alive = await new Promise<boolean>((resolve) => {
    const probe = connect({ path });
    probe.once('connect', () => resolve(true));
    probe.once('error', (error) => resolve(!hasErrno(error, 'ECONNREFUSED', 'ENOENT')));
    probe.once('close', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
  if (alive) {
    throw new SbxError('conflict', `another process listens on ${path}`, { hint: 'choose another path' });
  }
  await unlink(path).catch((error: unknown) => {
    if (!hasErrno(error, 'ENOENT')) throw error;
  });
}

function listening(server: Server, where: { host: string; port: number } | { path: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...where, exclusive: true, backlog: 1024 }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function bindError(address: string, port: number, orNext: boolean, error: unknown): SbxError {
  const where = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  if (hasErrno(error, 'EADDRINUSE')) {
    const next = orNext ? ` and so are the ${NEXT_FREE_TRIES} after it` : '';
    return new SbxError('conflict', `${where} is in use on this machine${next}`, {
      hint: 'let the system pick a port by leaving the first one out, like :3000',
      cause: error,
    });
  }
  if (hasErrno(error, 'EACCES')) {
    return new SbxError('failed', `this user may not listen on ${where}`, {
      hint: 'choose a port above 1023, like 8080:80',
      cause: error,
    });
  }
  return new SbxError('failed', `cannot listen on ${where}: ${(error as Error).message}`, { cause: error });
}
