/** A sandbox whose network is this machine's, for tests of forwarding; no commands run in it. */
import { createServer, type Server } from 'node:net';
import type { ListeningPort, Sandbox, SandboxState } from '../../../../src/lib/backend/contract.ts';
import { dialError } from '../../../../src/lib/backend/derived/dial-error.ts';
import { SbxError } from '../../../../src/lib/errors.ts';
import type { EstablishedForward, ForwardHooks } from '../../../../src/lib/ops/forward/types.ts';
import { connectTcp } from '../../../../src/lib/transport/connect.ts';

export interface HostSandbox extends Sandbox {
  /** What `ports` answers; tests change it. */
  ports: ListeningPort[];
  /** undefined: removed. */
  state: SandboxState | undefined;
}

export function hostSandbox(): HostSandbox {
  const sandbox: HostSandbox = {
    id: 'b1',
    name: 'box',
    backend: 'host',
    ports: [],
    state: 'running',
    async info() {
      const { state } = sandbox;
      if (state === undefined) throw new SbxError('not_found', "there is no sandbox 'box'");
      return { id: 'b1', name: 'box', backend: 'host', state, createdAt: '2024-01-01T00:00:00Z', labels: {} };
    },
    async exec() {
      throw new SbxError('bug', 'this sandbox runs nothing');
    },
    can: {
      ports: { list: async () => sandbox.ports },
      async dial(target, { signal }) {
        try {
          return await connectTcp(target, { signal });
        } catch (error) {
          throw dialError(target, error, signal);
        }
      },
      async listen({ port }, onConnection) {
        const server = createServer({ allowHalfOpen: true }, onConnection);
        return {
          port: await listen(server, port),
          close: async () => {
            server.close();
          },
        };
      },
    },
  };
  return sandbox;
}

/** Listens on 127.0.0.1. @returns the port */
export function listen(server: Server, port = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

/** Hooks that keep what they are told and can be waited for. */
export interface RecordedHooks extends ForwardHooks {
  readonly notices: string[];
  readonly open: EstablishedForward[];
  /** Resolves when `holds` does, looking after everything the hooks are told. */
  until(holds: () => boolean): Promise<void>;
}

export function recordHooks(): RecordedHooks {
  const waiting = new Set<() => void>();
  const notices: string[] = [];
  const open: EstablishedForward[] = [];
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  return {
    notices,
    open,
    established(forward) {
      open.push(forward);
      tell();
    },
    closed(forward) {
      open.splice(open.indexOf(forward), 1);
      tell();
    },
    notice(line) {
      notices.push(line);
      tell();
    },
    debug: tell,
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
