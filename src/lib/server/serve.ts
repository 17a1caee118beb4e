/** Puts a server together, starts it, and stops it in good order. Knows no process: what it needs is handed in. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { tryLock } from '../store/lock.ts';
import { type Daemon, listeners } from './daemon.ts';
import { type Egress, openEgress } from './egress/egress.ts';
import { openFleet } from './fleet.ts';
import { dispatcher, type Handled } from './http/dispatch.ts';
import { closed, LIMITS, listen } from './http/listen.ts';
import { exposedPorts } from './preview/exposed-ports.ts';
import { openPreviews, type Previews } from './preview/server.ts';
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

/** How often idle sandboxes are looked for, in milliseconds. */
const SLEEP_LOOK_MS = 1000;

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
  let opened: Egress | undefined;
  let previews: Previews | undefined;
  try {
    const db = openDatabase(folder);
    const rows = sandboxRows(db);
    const backend = (driver: string) => options.backends.get(driver);
    const onFresh = listeners();
    const onGone = listeners();
    const onHandled = (handled: Handled) => {
      log(requestLine(handled));
      if (handled.bug !== undefined) notice(bugText(handled.bug));
    };
    const egress = await openEgress({
      settings: settings.egress,
      bodyLimit: settings.bodyLimit,
      db,
      rows,
      now,
      notice,
      onHandled,
      stopping: stopping.signal,
    });
    opened = egress;
    onFresh.add(egress.leave);
    onGone.add(egress.leave);
    const fleet = openFleet({
      rows,
      backend,
      now,
      onFresh: onFresh.call,
      onGone: onGone.call,
      onRuns: ({ id }, sandbox) => egress.reach(id, async () => sandbox),
      notice,
    });
    const { having } = options.backends;
    await fleet.findAgain({ signal: stopping.signal });
    const exposed = exposedPorts(db);
    onFresh.add(exposed.clear);
    previews = await openPreviews({ settings, fleet, exposed, having, stopping: stopping.signal, notice });
    const daemon: Daemon = {
      ...{ settings, db, rows, fleet, backend, having, now, notice, onFresh, onGone },
      ...{ egress, exposed, previews },
    };
    const dispatch = dispatcher({
      settings,
      routes: routesOf(daemon),
      upgrades: upgradesOf(daemon),
      mustExist: (id) => void fleet.get(id),
      stopping: stopping.signal,
      onHandled,
    });
    const server = listener(settings);
    server.on('request', dispatch.request);
    server.on('upgrade', dispatch.upgrade);
    await listen(server, options.handle ?? settings.listen, '--listen');
    const sleeper = sleepLoop(() => fleet.sleepIdle({ signal: stopping.signal }), notice);
    return {
      url: urlOf(server, settings),
      async close() {
        stopping.abort(new SbxError('interrupted', 'the server is stopping'));
        sleeper.stop();
        await Promise.all([closed(server), daemon.previews.close()]);
        await fleet.settled();
        await egress.close();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    await previews?.close();
    await opened?.close();
    lock.release();
    throw error;
  }
}

function listener({ tls }: ServeSettings): Server {
  return tls === undefined ? createServer(LIMITS) : createTlsServer({ ...LIMITS, ...tls });
}

function urlOf(server: Server, { tls, listen }: ServeSettings): string {
  const { port, address } = server.address() as AddressInfo;
  const host = listen.host === 'localhost' ? 'localhost' : address;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
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
