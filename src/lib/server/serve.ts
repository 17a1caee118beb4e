/** Puts a server together, starts it, and stops it in good order. Knows no process: what it needs is handed in. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Backends } from '../backend/registry.ts';
import { hasErrno, SbxError } from '../errors.ts';
import { tryLock } from '../store/lock.ts';
import { type Daemon, listeners } from './daemon.ts';
import { openFleet } from './fleet.ts';
import { dispatcher } from './http/dispatch.ts';
import { requestLine } from './request-log.ts';
import { routesOf, upgradesOf } from './routes/index.ts';
import { checkSettings, type ServeSettings } from './settings.ts';
import { openDatabase } from './store/database.ts';
import { sandboxRows } from './store/sandboxes.ts';

export interface ServeOptions {
  readonly settings: ServeSettings;
  readonly backends: Pick<Backends, 'get' | 'having'>;
  /** The folder of this server's state. */
  readonly folder: string;
  /** A listening socket that was handed over, such as by systemd; instead of the address. */
  readonly handle?: { readonly fd: number } | undefined;
  readonly now: () => Date;
  /** A line for the operator. */
  readonly notice: (line: string) => void;
  /** A line for each request that was handled. */
  readonly log: (line: string) => void;
}

/** A server that listens. */
export interface Serving {
  readonly url: string;
  /** Ends streams with a word of farewell, waits for what changes sandboxes, and lets go of everything. */
  close(): Promise<void>;
}

/** Milliseconds for a client to send the head of a request. */
const HEAD_MS = 10_000;
/** Bytes of a request's head. */
const HEAD_LIMIT = 16 * 1024;
/** How often idle sandboxes are looked for, in milliseconds. */
const SLEEP_LOOK_MS = 1000;
/** How long requests that are under way may take when the server stops, in milliseconds. */
const FAREWELL_MS = 10_000;
const SWEEP_MS = 50;

/**
 * Starts to listen, having found again what a former run left.
 * @throws SbxError `usage` for settings that would be unsafe, `conflict` when another server has the state or the address.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const settings = checkSettings(options.settings);
  const { folder, now, notice, log } = options;
  const lock = await tryLock(join(folder, 'lock'), { purpose: 'sbx serve' });
  if (lock === undefined) {
    throw new SbxError('conflict', `another sbx serve uses ${folder}`, {
      hint: 'stop it, or name another state folder: SBX_STATE_DIR=…',
    });
  }
  const stopping = new AbortController();
  try {
    const db = openDatabase(folder);
    const rows = sandboxRows(db);
    const backend = (driver: string) => options.backends.get(driver);
    const onFresh = listeners();
    const onGone = listeners();
    const fleet = openFleet({ rows, backend, now, onFresh: onFresh.call, onGone: onGone.call, notice });
    const { having } = options.backends;
    const daemon: Daemon = { settings, db, rows, fleet, backend, having, now, notice, onFresh, onGone };
    await fleet.findAgain({ signal: stopping.signal });
    const dispatch = dispatcher({
      settings,
      routes: routesOf(daemon),
      upgrades: upgradesOf(daemon),
      stopping: stopping.signal,
      onHandled(handled) {
        log(requestLine(handled));
        if (handled.bug !== undefined) notice(bugText(handled.bug));
      },
    });
    const server = listener(settings);
    server.on('request', dispatch.request);
    server.on('upgrade', dispatch.upgrade);
    await listen(server, options);
    const sleeper = sleepLoop(() => fleet.sleepIdle({ signal: stopping.signal }), notice);
    return {
      url: urlOf(server, settings),
      async close() {
        stopping.abort(new SbxError('interrupted', 'the server is stopping'));
        sleeper.stop();
        await closed(server);
        await fleet.settled();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function listener({ tls }: ServeSettings): Server {
  const limits = {
    maxHeaderSize: HEAD_LIMIT,
    headersTimeout: HEAD_MS,
    // A body may be a stream of hours; body.ts watches over those that are kept.
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
  };
  return tls === undefined ? createServer(limits) : createTlsServer({ ...limits, ...tls });
}

async function listen(
  server: Server,
  { settings, handle }: Pick<ServeOptions, 'settings' | 'handle'>,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('listening', resolve);
  server.listen(handle ?? { host: settings.listen.host, port: settings.listen.port });
  try {
    await promise;
  } catch (cause) {
    const { host, port } = settings.listen;
    if (!hasErrno(cause, 'EADDRINUSE', 'EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND')) throw cause;
    throw new SbxError('conflict', `cannot listen on ${host}:${port}: ${cause.message}`, {
      hint: 'name another address: --listen 127.0.0.1:0',
      cause,
    });
  }
  server.off('error', reject);
}

function urlOf(server: Server, { tls, listen }: ServeSettings): string {
  const { port, address } = server.address() as AddressInfo;
  const host = listen.host === 'localhost' ? 'localhost' : address;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Resolves when no request is under way any more, or none that ends. */
async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  // A connection whose last answer is over is kept for the next request, which will not come.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  const timer = setTimeout(() => server.closeAllConnections(), FAREWELL_MS);
  await promise;
  clearTimeout(timer);
  clearInterval(sweep);
}

/** Calls `look` again and again, never twice at once. */
function sleepLoop(look: () => Promise<unknown>, notice: (line: string) => void): { stop(): void } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  const next = () => {
    timer = setTimeout(async () => {
      await look().catch((error: unknown) =>
        notice(`cannot pause idle sandboxes: ${(error as Error).message}`),
      );
      if (!stopped) next();
    }, SLEEP_LOOK_MS);
  };
  next();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function bugText(bug: unknown): string {
  return `bug: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`;
}
