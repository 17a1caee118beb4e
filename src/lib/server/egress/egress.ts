/** The egress gateway of a server: puts it together, starts it, and says how sandboxes get to it. */
import type { Backend, CreateSpec, EgressPolicy, ProviderAccess } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Handled } from '../http/dispatch.ts';
import { listen } from '../http/listen.ts';
import type { SandboxRecord } from '../record.ts';
import { isLoopback } from '../settings.ts';
import type { Database } from '../store/database.ts';
import type { SandboxRows } from '../store/sandboxes.ts';
import { openForward } from './forward.ts';
import { openGate } from './gate.ts';
import { createGateway, portOf } from './gateway.ts';
import type { EgressSettings } from './settings.ts';
import { openSwap } from './swap.ts';
import type { LookUp } from './target.ts';
import { type EgressToken, type EgressTokens, egressTokens, newToken } from './tokens.ts';
import { accessTo, providerVariables, proxyVariables, withoutTokens } from './wiring.ts';
import { type FindSandbox, listenWithin } from './within.ts';

export interface EgressOptions {
  readonly settings: EgressSettings;
  readonly bodyLimit: number;
  readonly db: Database;
  readonly rows: SandboxRows;
  readonly now: () => Date;
  readonly notice: (line: string) => void;
  readonly onHandled: (handled: Handled) => void;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** Default: this machine's resolver. */
  readonly lookUp?: LookUp | undefined;
}

/** A network with nothing in reach but the gateway. */
export type Enclosure = Pick<CreateSpec, 'network' | 'closedNetwork'>;

/** Where a sandbox is made, and in which network if one is chosen. */
export interface Place {
  readonly backend: Pick<Backend, 'manifest' | 'name'>;
  readonly network: CreateSpec['network'];
}

/** What a new sandbox gets. */
export interface Granted {
  readonly token: EgressToken;
  readonly env: Readonly<Record<string, string>>;
}

export interface Egress {
  readonly tokens: EgressTokens;
  readonly port: number;
  /** The providers as sandboxes of this backend reach them. */
  access(backend: Pick<Backend, 'manifest'>): ProviderAccess[];
  /**
   * A token and its variables for a sandbox that is being made. Undefined: it asks for none, and needs none.
   * @throws SbxError `usage` when it could not reach the gateway
   */
  grant(id: string, asked: EgressPolicy | undefined, place: Place): Granted | undefined;
  /**
   * The network of new sandboxes that have no way out but the gateway; undefined where they may have others.
   * @throws SbxError `usage` when this backend's could not be kept from going around it
   */
  enclosure(backend: Pick<Backend, 'manifest' | 'name'>): Enclosure | undefined;
  /** The environment of a sandbox without what its own tokens brought into it, for another one to have. */
  ownEnv(record: Pick<SandboxRecord, 'id' | 'env'>): Readonly<Record<string, string>>;
  /** The policy of the token by which a sandbox uses providers; undefined where its environment has none. */
  policyOf(record: Pick<SandboxRecord, 'id' | 'env'>): EgressPolicy | undefined;
  /** Brings the gateway to a sandbox that runs and has a token. */
  reach(id: string, find: FindSandbox): Promise<void>;
  /** After it was stopped, started anew or removed. */
  leave(id: string): void;
  close(): Promise<void>;
}

/** Starts to listen. @throws SbxError `conflict` when the address is taken */
export async function openEgress(options: EgressOptions): Promise<Egress> {
  const { settings, bodyLimit, db, rows, now, notice, onHandled, stopping, lookUp } = options;
  const { providers, prices, enforce, network, allow, advertise } = settings;
  const tokens = egressTokens(db);
  const gate = openGate({ rows, tokens, prices, now });
  const { server, take, idle } = createGateway({
    swap: openSwap({ gate, providers, bodyLimit }),
    forward: openForward({ gate, allow: enforce ? allow : undefined, lookUp }),
    stopping,
    onHandled,
  });
  await listen(server, settings.listen, '--egress-listen');
  const port = portOf(server);
  const within = listenWithin({ port, take, notice });
  const listens = ({ manifest }: Pick<Backend, 'manifest'>) => manifest.capabilities.listen !== undefined;
  const address = (backend: Pick<Backend, 'manifest'>) => ({
    host: listens(backend) ? '127.0.0.1' : advertise,
    port,
  });
  return {
    tokens,
    port,
    access: (backend) => accessTo(providers, address(backend)),
    grant(id, asked, { backend, network }) {
      if (asked === undefined && !enforce) return undefined;
      const { host } = address(backend);
      if (!listens(backend) && network !== 'host' && isLoopback(host)) {
        throw new SbxError(
          'usage',
          `sandboxes of '${backend.name}' cannot reach the egress gateway at ${host}`,
          {
            hint: 'sbx serve --egress-listen ADDRESS:4752, or --egress-advertise ADDRESS, with that of the bridge that they are on',
          },
        );
      }
      const token = newToken(id);
      const access = asked === undefined ? [] : accessTo(providers, address(backend));
      const proxy = enforce ? proxyVariables(address(backend), token) : {};
      return {
        token: { token, policy: asked ?? {}, spendUsd: 0 },
        env: { ...providerVariables(access, token), ...proxy },
      };
    },
    enclosure(backend) {
      if (!enforce) return undefined;
      const { createOptions } = backend.manifest;
      if (listens(backend) && createOptions.includes('network')) return { network: 'none' };
      if (network !== undefined && createOptions.includes('closedNetwork')) return { closedNetwork: network };
      throw new SbxError('usage', `sandboxes of '${backend.name}' could go around the egress gateway`, {
        hint: 'docker network create --internal NAME; sbx serve --egress-enforce --egress-network NAME …',
      });
    },
    ownEnv: ({ id, env }) =>
      withoutTokens(
        env,
        tokens.list(id).map(({ token }) => token),
        accessTo(providers, { host: advertise, port }),
      ),
    policyOf({ id, env }) {
      const values = new Set(Object.values(env));
      return tokens.list(id).find(({ token }) => values.has(token))?.policy;
    },
    async reach(id, find) {
      if (tokens.list(id).length > 0) await within.open(id, find);
    },
    leave: (id) => within.leave(id),
    async close() {
      await within.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await idle();
    },
  };
}
