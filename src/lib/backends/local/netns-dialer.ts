/**
 * Reaches ports of a sandbox that has its own network namespace. A helper joins the namespace and passes connected
 * and listening sockets back, so that bytes go through no process but this one and back-pressure is the kernel's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Call, DialTarget, Listener } from '../../backend/contract.ts';
import { dialError, listenError } from '../../backend/derived/dial-error.ts';
import { SbxError } from '../../errors.ts';
import { helperPath } from './netns-helper-path.ts';
import type { HelperReply, HelperRequest } from './netns-protocol.ts';

export interface NamespaceOptions {
  /** A process in the namespace, as this process numbers it. */
  readonly pid: number;
  /** Whether the user namespace has to be joined first: for a client that is not root. */
  readonly userns: boolean;
}

/** The way into one network namespace. Concurrent. Its helper starts at the first use. */
export interface NamespaceDialer {
  /** `unreachable` when nothing listens. */
  dial(target: DialTarget, call: Call): Promise<Socket>;
  /** `conflict` when the port is taken; port 0 lets the system pick. Default host: 127.0.0.1. */
  listen(target: DialTarget, onConnection: (socket: Duplex) => void, call: Call): Promise<Listener>;
  /** Ends the helper. Sockets that were given out stay open. */
  close(): void;
}

type Handle = Socket | Server;
interface Pending {
  resolve(handle: Handle): void;
  reject(error: Error): void;
}

export function createNamespaceDialer(options: NamespaceOptions): NamespaceDialer {
  let helper: Promise<Helper> | undefined;

  async function request(type: HelperRequest['type'], target: DialTarget, call: Call): Promise<Handle> {
    helper ??= startHelper(options, () => {
      helper = undefined;
    });
    const started = await helper;
    call.signal.throwIfAborted();
    return started.request(type, target, call.signal);
  }

  return {
    async dial(target, call) {
      try {
        const socket = (await request('dial', target, call)) as Socket;
        // Node makes received sockets that end both directions at once.
        socket.allowHalfOpen = true;
        return socket;
      } catch (error) {
        throw dialError(target, error, call.signal);
      }
    },
    async listen(target, onConnection, call) {
      try {
        const server = (await request('listen', target, call)) as Server & {
          allowHalfOpen: boolean;
          noDelay: boolean;
        };
        server.allowHalfOpen = true;
        server.noDelay = true;
        server.on('connection', onConnection);
        const address = server.address();
        const port = address !== null && typeof address === 'object' ? address.port : target.port;
        return { port, close: () => closeServer(server) };
      } catch (error) {
        throw listenError(target, error, call.signal);
      }
    },
    close() {
      helper?.then(
        (started) => started.stop(),
        () => undefined,
      );
      helper = undefined;
    },
  };
}

function closeServer(server: Server): Promise<void> {
  // Connections live on; their owner ends them.
  server.close();
  return Promise.resolve();
}

interface Helper {
  request(type: HelperRequest['type'], target: DialTarget, signal: AbortSignal): Promise<Handle>;
  stop(): void;
}

function startHelper({ pid, userns }: NamespaceOptions, gone: () => void): Promise<Helper> {
  const enter = [
    '--target',
    String(pid),
    ...(userns ? ['--user', '--preserve-credentials'] : []),
    '--net',
    '--',
  ];
  const child = spawn('nsenter', [...enter, process.execPath, helperPath()], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Out of the terminal's process group: Ctrl-C is for the client, and the end of the channel ends the helper.
    detached: true,
  });
  const pending = new Map<number, Pending>();
  const hold = () => (pending.size > 0 ? refer(child) : release(child));
  let lastId = 0;
  let complaint = '';
  child.stderr?.on('data', (part: Buffer) => {
    complaint = `${complaint}${part.toString()}`.slice(-2000);
  });
  const helper: Helper = {
    request(type, target, signal) {
      return new Promise((resolve, reject) => {
        const id = ++lastId;
        const settle = () => {
          signal.removeEventListener('abort', abort);
          pending.delete(id);
          hold();
        };
        const waiting: Pending = {
          resolve(handle) {
            settle();
            resolve(handle);
          },
          reject(error) {
            settle();
            reject(error);
          },
        };
        // What arrives for it later finds nobody and is closed.
        const abort = () => waiting.reject(new Error('aborted'));
        signal.addEventListener('abort', abort, { once: true });
        pending.set(id, waiting);
        hold();
        const { port, host } = target;
        child.send({ id, type, port, host } satisfies HelperRequest);
      });
    },
    stop() {
      if (child.connected) child.disconnect();
    },
  };
  return new Promise<Helper>((resolve, reject) => {
    let failed = false;
    const fail = (why: string, cause?: unknown) => {
      if (!failed) gone();
      failed = true;
      const error = new SbxError('unreachable', `cannot enter the sandbox's network: ${why}`, { cause });
      reject(error);
      for (const each of [...pending.values()]) each.reject(error);
    };
    // More than once: a request to a helper that has just ended fails this way too.
    child.on('error', (error) => fail(error.message, error));
    child.once('close', (code, signal) => fail(complaint.trim() || `its helper ended (${signal ?? code})`));
    child.on('message', (message: HelperReply, handle?: Handle) => {
      if (message.type === 'ready') {
        release(child);
        resolve(helper);
        return;
      }
      const waiting = pending.get(message.id);
      if (message.type === 'failed') {
        waiting?.reject(Object.assign(new Error(message.message), { code: message.code }));
      } else if (handle instanceof Socket || handle instanceof Server) {
        if (waiting === undefined) discard(handle);
        else waiting.resolve(handle);
      } else {
        waiting?.reject(Object.assign(new Error('the connection ended at once'), { code: 'ECONNRESET' }));
      }
    });
  });
}

function discard(handle: Handle): void {
  if (handle instanceof Socket) handle.destroy();
  else handle.close();
}

/** An idle helper does not keep the client alive. */
function release(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
  if (child.stderr instanceof Socket) child.stderr.unref();
}

function refer(child: ChildProcess): void {
  child.ref();
  child.channel?.ref();
}
