/** An egress gateway in this process, with one sandbox that exists in the database alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EgressPolicy } from '../../../../src/lib/backend/contract.ts';
import { type Egress, openEgress } from '../../../../src/lib/server/egress/egress.ts';
import { type EgressAsked, egressSettings } from '../../../../src/lib/server/egress/settings.ts';
import type { LookUp } from '../../../../src/lib/server/egress/target.ts';
import { newToken } from '../../../../src/lib/server/egress/tokens.ts';
import type { Handled } from '../../../../src/lib/server/http/dispatch.ts';
import { noUsage, type SandboxRecord } from '../../../../src/lib/server/record.ts';
import { openDatabase } from '../../../../src/lib/server/store/database.ts';
import { type SandboxRows, sandboxRows } from '../../../../src/lib/server/store/sandboxes.ts';

export const SANDBOX = 'sb1';

export interface GatewayHere extends AsyncDisposable {
  readonly egress: Egress;
  readonly rows: SandboxRows;
  readonly url: string;
  /** What the server would have in its log, and tell its operator. */
  readonly said: string[];
  /** Moves the clock. */
  later(ms: number): void;
  mint(policy?: EgressPolicy): string;
  /** The request line of the next request that is over. */
  handled(): Promise<Handled>;
}

export async function gatewayHere(
  asked: Partial<EgressAsked> = {},
  { record = {}, lookUp }: { readonly record?: Partial<SandboxRecord>; readonly lookUp?: LookUp } = {},
): Promise<GatewayHere> {
  const folder = await mkdtemp(join(tmpdir(), 'sbx-egress-'));
  const db = openDatabase(folder);
  const rows = sandboxRows(db);
  const said: string[] = [];
  const stopping = new AbortController();
  let waiting = Promise.withResolvers<Handled>();
  let at = Date.parse('2030-01-01T00:00:00.000Z');
  rows.reserve({ id: SANDBOX, name: 'box', driver: 'local' });
  rows.put({ ...RECORD, ...record });
  const egress = await openEgress({
    settings: egressSettings({
      listen: { host: '127.0.0.1', port: 0 },
      enforce: false,
      allow: [],
      spendCapUsd: 0,
      env: {},
      ...asked,
    }),
    bodyLimit: 100_000,
    db,
    rows,
    now: () => new Date(at),
    notice: (line) => said.push(line),
    onHandled(handled) {
      said.push(JSON.stringify(handled, (_, value) => (value instanceof Error ? value.stack : value)));
      waiting.resolve(handled);
      waiting = Promise.withResolvers();
    },
    stopping: stopping.signal,
    lookUp,
  });
  return {
    egress,
    rows,
    url: `http://127.0.0.1:${egress.port}`,
    said,
    later: (ms) => {
      at += ms;
    },
    mint(policy = {}) {
      const token = newToken(SANDBOX);
      egress.tokens.put(SANDBOX, { token, policy, spendUsd: 0 });
      return token;
    },
    handled: () => waiting.promise,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await egress.close();
      db.close();
      await rm(folder, { recursive: true });
    },
  };
}

const RECORD: SandboxRecord = {
  id: SANDBOX,
  name: 'box',
  image: 'host',
  status: 'running',
  createdAt: '2030-01-01T00:00:00.000Z',
  driver: 'local',
  labels: {},
  env: {},
  persist: true,
  lastActivityAt: '2030-01-01T00:00:00.000Z',
  sleepAfterMs: 0,
  limits: {},
  egressSpendCapUsd: 0,
  usage: noUsage,
  workdir: '/workspace',
};
