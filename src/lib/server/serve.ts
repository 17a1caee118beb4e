/** Puts a server together, starts it, and stops it in good order. Knows no process: what it needs is handed in. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { tryLock } from '../store/lock.ts';

import type { Daemon } from './daemon.ts';
import type { Egress } from './egress/egress.ts';
import { dispatcher, type Handled } from './http/dispatch.ts';
import { closed, LIMITS, listen, TLS_LIMITS } from './http/listen.ts';
import { loop } from './loop.ts';
import { ROUND_MS } from './meter.ts';
import { openDaemon } from './open-daemon.ts';
import { exposedPorts } from './preview/exposed-ports.ts';
import { openPreviews, type Previews } from './preview/server.ts';

import { requestLine } from './request-log.ts';
import { routesOf, upgradesOf } from './routes/index.ts';
import { checkSettings, type ServeSettings } from './settings.ts';
import { openDatabase } from './store/database.ts';
import { openTraces } from './traces.ts';

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

/** How often idle sandboxes, and those whose time is up, are looked for, in milliseconds. */
const SLEEP_LOOK_MS = 1000;

/**
 * Starts to listen, having found again what a former run left.
 * @throws SbxError `usage` for settings that would be unsafe, `conflict` when another server has the state or the address.
 */
export async function serve(options: ServeOptions): Promise<Serving> {
  const settings = checkSettings(options.settings);
  const { folder, notice, log } = options;
  const server = listener(settings);
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
    const traces = await openTraces(settings.otlpEndpoint);
    const onHandled = (handled: Handled) => {
      log(requestLine(handled, traces.add(handled)));
      if (handled.bug !== undefined) notice(bugText(handled.bug));
    };
    const { signal } = stopping;
    const base = await openDaemon(db, options, { traces, onHandled, stopping: signal });
    const { fleet, egress, snapshots, meter, rows, having } = base;
    opened = egress;
    // Refuses to start where no sandbox could be made.
    if (settings.egress.enforce) egress.enclosure(await base.backend(settings.driver));
    await fleet.findAgain({ signal });
    await snapshots.tidy({ signal });
    const exposed = exposedPorts(db);
    base.onFresh.add(exposed.clear);
    previews = await openPreviews({ settings, fleet, exposed, having, stopping: signal, notice });
    const daemon: Daemon = { ...base, exposed, previews };
    await listen(server, options.handle ?? settings.listen, '--listen');
    // From here to the handlers nothing is waited for: nobody is answered before this is known to be safe.
    const heard = options.handle === undefined ? settings : checkSettings(handedOver(settings, server));
    const dispatch = dispatcher({
      settings: heard,
      routes: routesOf(daemon),
      upgrades: upgradesOf(daemon),
      isKnown: (ref) => rows.find(ref) !== undefined,
      stopping: signal,
      onHandled,
    });
    server.on('request', dispatch.request);
    server.on('upgrade', dispatch.upgrade);
    const loops = [
      loop('pause idle sandboxes', SLEEP_LOOK_MS, () => fleet.sleepIdle({ signal }), notice),
      loop('remove sandboxes whose time is up', SLEEP_LOOK_MS, () => fleet.removeExpired({ signal }), notice),
      loop('measure what sandboxes use', ROUND_MS, () => meter.round({ signal }), notice),
    ];
    return {
      url: urlOf(server, heard),
      async close() {
        stopping.abort(new SbxError('interrupted', 'the server is stopping'));
        await Promise.all(loops.map((each) => each.stop()));
        await Promise.all([closed(server), previews?.close()]);
        await fleet.settled();
        await egress.close();
        await traces.close();
        db.close();
        lock.release();
      },
    };
  } catch (error) {
    server.close();
    await previews?.close();
    await opened?.close();
    lock.release();
    throw error;
  }
}

function listener({ tls }: ServeSettings): Server {
  if (tls === undefined) return createServer(LIMITS);
  try {
    return createTlsServer({ ...TLS_LIMITS, ...tls });
  } catch (cause) {
    throw new SbxError('usage', `the certificate and its key cannot be used: ${(cause as Error).message}`, {
      hint: 'both are PEM, and belong together: --tls-cert CHAIN --tls-key KEY',
      cause,
    });
  }
}

/** With the address of a socket that was handed over, which is whatever its owner chose. @throws SbxError `usage` */
function handedOver(settings: ServeSettings, server: Server): ServeSettings {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new SbxError('usage', 'the socket that was handed over is none of TCP', {
      hint: 'ListenStream=127.0.0.1:4750',
    });
  }
  return { ...settings, listen: { host: address.address, port: address.port } };
}

function urlOf(server: Server, { tls, listen }: ServeSettings): string {
  const { port, address } = server.address() as AddressInfo;
  const host = listen.host === 'localhost' ? 'localhost' : address;
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function bugText(bug: unknown): string {
  return `bug: ${bug instanceof Error ? (bug.stack ?? bug.message) : String(bug)}`;
}
