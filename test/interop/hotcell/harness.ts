/** What the topics work with: one server, sandboxes that go away by themselves, and further servers with other settings. */
import { expect, test } from 'vitest';
import { type Api, createApi } from './api.ts';
import type { HotcellServer, Settings } from './server.ts';
import type { SandboxRecord } from './shapes.ts';

/** What a server says of itself to join. */
export interface HotcellOptions {
  readonly name: string;
  /** Starts a server on a port that the system picks; without settings it has a key. Called for each of a few settings. */
  readonly start: (settings: Settings) => Promise<HotcellServer>;
  /** Why this machine cannot run it; `undefined` when it can. */
  readonly unavailable?: string | undefined;
  /** Titles of topics: those alone, where the others would be as for another server. */
  readonly topics?: readonly string[];
  readonly lacks?: readonly Feature[];
  /** Whether it refuses what the seed takes by mistake; docs/protocol.md has the list. */
  readonly strict?: boolean;
  /** It describes itself at `/openapi.json`: these routes, as `GET /path/:param`, beyond those of the table. */
  readonly openapi?: { readonly more: readonly string[] };
  /** A repository that its sandboxes can clone; without it cloning is not tested. */
  readonly repo?: Repo;
  /** Milliseconds a test may take; default 20,000. */
  readonly timeout?: number;
}

/** A repository whose `ref` has `file` with this content, and whose default branch has not. */
export interface Repo {
  readonly url: string;
  readonly ref: string;
  readonly file: string;
  readonly content: string;
}

/**
 * `limits applied`: a sandbox does not get more than its limits. `pause keeps processes`: they live on after a pause.
 * `stop ends all`: what runs ends with a stop. `terminal resize`: a size that comes later counts.
 * `terminal hangs up`: its shell ends when its client leaves.
 * `follow ends`: logs that are followed end with their process. `idle pause`: `sleepAfter` is kept. `restart`: state outlives
 * the server. `admission`: memory is promised only once. `python`, `javascript`: languages of run-code.
 */
export type Feature =
  | 'limits applied'
  | 'pause keeps processes'
  | 'stop ends all'
  | 'terminal resize'
  | 'terminal hangs up'
  | 'follow ends'
  | 'idle pause'
  | 'restart'
  | 'admission'
  | 'python'
  | 'javascript';

/** The settings of the one server that has them all, with what the tests expect of them. */
export const configured = {
  allowedHosts: ['Box.example', 'other.example'],
  maxBodyBytes: 1000,
  defaultMemoryMb: 300,
  defaultCpus: 1.5,
  defaultPidsLimit: 200,
  defaultSleepAfterMs: 7_200_000,
  egressSpendCapUsd: 5,
  egressEnforce: true,
} satisfies Settings;

/** One server under test. */
export interface Harness extends HotcellOptions, Api {
  /** A new sandbox, removed at the end of the suite. */
  sandbox(spec?: Readonly<Record<string, unknown>>): Promise<SandboxRecord>;
  /** One for all tests that leave it running as it was, but for files of their own. */
  shared(): Promise<SandboxRecord>;
  /** The record as it is now. */
  record(id: string): Promise<SandboxRecord>;
  has(feature: Feature): boolean;
  /** `test`, or a test that is skipped because `condition` does not hold. */
  when(condition: boolean): typeof test | typeof test.skip;
  /** The status of a refusal that the seed tells with 500, as if it were at fault. */
  fault(status: number): number;
  /** Runs `use` with a server of these settings, which all tests with the same ones share; its sandboxes go away after each. */
  another(settings: Settings, use: (api: Api) => Promise<void>): Promise<void>;
}

export interface HarnessOfSuite extends Harness {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** A harness whose server is started and closed by the suite. */
export function createHarness(options: HotcellOptions): HarnessOfSuite {
  const made: string[] = [];
  const others = new Map<string, Promise<HotcellServer>>();
  let server: HotcellServer | undefined;
  let shared: Promise<SandboxRecord> | undefined;
  const api = createApi(() => {
    if (server === undefined) throw new Error('the server has not been started yet');
    return server;
  });
  const sandbox = async (spec = {}) => {
    const record = await api.answer<SandboxRecord>(201, 'POST /sandboxes', spec);
    made.push(record.id);
    return record;
  };
  return {
    ...options,
    ...api,
    sandbox,
    shared() {
      shared ??= sandbox();
      return shared;
    },
    record: (id) => api.answer(200, `GET /sandboxes/${id}`),
    has: (feature) => options.lacks?.includes(feature) !== true,
    when: (condition) => (condition ? test : test.skip),
    fault: (status) => (options.strict === true ? status : 500),
    async another(settings, use) {
      const name = JSON.stringify(settings);
      const starting = others.get(name) ?? options.start(settings);
      others.set(name, starting);
      const other = await starting;
      const there = createApi(() => other);
      try {
        await use(there);
      } finally {
        await removeAll(there);
      }
    },
    async open() {
      server = await options.start({});
    },
    async close() {
      if (server === undefined) return;
      await Promise.all(made.map((id) => remove(api, id)));
      const all = [server, ...(await Promise.all(others.values()))];
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

async function removeAll(api: Api): Promise<void> {
  const { sandboxes } = await api.answer<{ sandboxes: SandboxRecord[] }>(200, 'GET /sandboxes');
  await Promise.all(sandboxes.map(({ id }) => remove(api, id)));
}

/** A test may have removed it. */
async function remove(api: Api, id: string): Promise<void> {
  const { status } = await api.ask(`DELETE /sandboxes/${id}`);
  expect([200, 404]).toContain(status);
}
