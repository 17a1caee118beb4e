/** A type of backend that has nothing, for tests of what stands around backends. */
import type { Backend, CheckResult, PrunedItem, SandboxInfo } from '../../src/lib/backend/contract.ts';
import type { ConfigOption, Manifest } from '../../src/lib/backend/manifest.ts';
import type { BackendOptions, BackendType } from '../../src/lib/backend/registry.ts';

/** What the fake has and says. */
export interface FakeOptions {
  readonly config?: readonly ConfigOption[];
  readonly capabilities?: Manifest['capabilities'];
  readonly checks?: readonly CheckResult[];
  readonly sandboxes?: readonly Pick<SandboxInfo, 'name' | 'state'>[];
  readonly prune?: (dryRun: boolean) => Promise<readonly PrunedItem[]>;
  /** Called with what the backend is opened with. */
  readonly onOpen?: (options: BackendOptions) => void;
}

/** A fake type called `type`. */
export function fakeType(type: string, fake: FakeOptions = {}): BackendType {
  const manifest: Manifest = {
    type,
    title: `the ${type} type`,
    capabilities: fake.capabilities ?? {},
    createOptions: [],
    limits: {},
    config: fake.config ?? [],
  };
  const nothing = async (): Promise<never> => {
    throw new Error('the fake backend makes no sandboxes');
  };
  return {
    manifest,
    open: async (options): Promise<Backend> => {
      fake.onOpen?.(options);
      return {
        name: options.name,
        manifest,
        create: nothing,
        get: nothing,
        async *list() {
          for (const sandbox of fake.sandboxes ?? []) {
            yield {
              ...sandbox,
              id: sandbox.name,
              backend: options.name,
              createdAt: '2026-01-01T00:00:00.000Z',
              labels: {},
            };
          }
        },
        destroy: nothing,
        check: async () => fake.checks ?? [{ name: 'fake', status: 'ok', detail: 'fine' }],
        can: fake.prune === undefined ? {} : { prune: ({ dryRun }) => fake.prune?.(dryRun) ?? nothing() },
      };
    },
  };
}
