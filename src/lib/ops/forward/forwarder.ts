/** Opens and closes the forwards of one sandbox. Prints nothing: tells its hooks. */
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Call, Sandbox } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import { connectTcp } from '../../transport/connect.ts';
import { bindTcp, bindUnix, LOOPBACK } from './bind.ts';
import { trackConnections } from './connections.ts';
import type { ForwardSpec, UnixSpec } from './spec.ts';
import { type EstablishedForward, type ForwardHooks, hostPort } from './types.ts';

/** The open forwards of a sandbox. */
export interface Forwarder {
  /** This machine listens. `host`: the address in the sandbox, where it is not the loopback. */
  openTcp(spec: ForwardSpec, host?: string): Promise<EstablishedForward>;
  /** This machine listens on a Unix socket. */
  openUnix(spec: UnixSpec): Promise<EstablishedForward>;
  /** The sandbox listens. */
  openReverse(spec: ForwardSpec): Promise<EstablishedForward>;
  /** Stops listening; connections that are open go on. */
  close(forward: EstablishedForward): Promise<void>;
  /** Stops listening and breaks every connection. */
  closeAll(): Promise<void>;
  /** Open connections of all forwards. */
  readonly connections: number;
}

export interface ForwarderOptions {
  /** Default address to listen on, or in reverse to connect to. Default: 127.0.0.1. */
  readonly address?: string | undefined;
  readonly having: CapabilityIndex;
  readonly hooks: ForwardHooks;
}

/** @throws SbxError `unsupported` from the `open…` that the backend cannot do. */
export function createForwarder(sandbox: Sandbox, options: ForwarderOptions, call: Call): Forwarder {
  const { having, hooks } = options;
  const facts = { sandbox: sandbox.name, backend: sandbox.backend } as const;
  const open = new Map<EstablishedForward, () => Promise<void>>();
  const connections = trackConnections(
    {
      accepted: () => hooks.debug('connection opened'),
      refused: (error) =>
        hooks.notice(`connection closed: ${error instanceof Error ? error.message : String(error)}`),
      broken: (error) => hooks.debug(`connection broke: ${error.message}`),
    },
    call.signal,
  );

  function add(forward: EstablishedForward, close: () => Promise<void>): EstablishedForward {
    open.set(forward, close);
    hooks.established(forward);
    return forward;
  }

  return {
    async openTcp({ address = options.address ?? LOOPBACK, local, remote, explicit }, host) {
      const carry = carrier(remote, host);
      const { server, port } = await bindTcp({ address, port: local, orNext: !explicit }, carry);
      if (local !== 0 && port !== local)
        hooks.notice(`port ${local} is in use on this machine; using ${port}`);
      return add({ ...facts, direction: 'forward', address, port, remote }, () => closeServer(server));
    },
    async openUnix({ path, remote }) {
      const server = await bindUnix(path, carrier(remote));
      return add({ ...facts, direction: 'forward', path, remote }, () => closeServer(server));
    },
    async openReverse({ address = options.address, local, remote }) {
      const target = { port: local, host: address };
      const listen = need(sandbox, 'listen', having);
      const listener = await listen(
        { port: remote },
        (accepted) => {
          void connections.carry(accepted, async (signal) => {
            try {
              return await connectTcp(target, { signal });
            } catch (cause) {
              const where = hostPort(address ?? LOOPBACK, local);
              throw new SbxError('unreachable', `nothing answers on ${where} of this machine`, { cause });
            }
          });
        },
        call,
      );
      const forward = { ...facts, direction: 'reverse', address: address ?? LOOPBACK, port: local } as const;
      return add({ ...forward, remote: listener.port }, () => listener.close());
    },
    async close(forward) {
      const close = open.get(forward);
      open.delete(forward);
      await close?.();
    },
    async closeAll() {
      const closing = [...open.values()].map((close) => close());
      open.clear();
      connections.breakAll();
      await Promise.all(closing);
    },
    get connections() {
      return connections.size;
    },
  };

  /** What takes an accepted connection to a port in the sandbox. Asks for `dial` at once, before anything listens. */
  function carrier(port: number, host?: string): (socket: Socket) => void {
    const dial = need(sandbox, 'dial', having);
    return (socket) => {
      void connections.carry(socket, (signal): Promise<Duplex> => dial({ port, host }, { signal }));
    };
  }
}

/** Stops accepting. Does not wait for open connections: they are somebody else's to end. */
function closeServer(server: Server): Promise<void> {
  server.close();
  return Promise.resolve();
}
