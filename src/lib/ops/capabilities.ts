/** The matrix of what each type of backend can do, from the manifests alone. */
import type { CapabilityKind, CapabilityName, Manifest } from '../backend/manifest.ts';

/** What each capability is for. Every capability stands here, which the compiler checks. */
export const CAPABILITIES = {
  power: 'start, stop, restart',
  suspend: 'pause, resume',
  lifetime: 'extend',
  rename: 'rename',
  fork: 'fork',
  snapshots: 'snapshot, create --from',
  diff: 'diff',
  env: 'env',
  archive: 'cp',
  files: 'files',
  processes: 'exec -d, ps, kill, logs',
  ports: 'ports',
  dial: 'forward',
  listen: 'forward --reverse',
  stats: 'stats',
  terminal: 'exec -t',
  sessions: 'shell, sessions, exec --session',
  egress: 'egress, create --egress',
  prune: 'prune',
} as const satisfies Record<CapabilityName, string>;

/** One capability across types. */
export interface CapabilityRow {
  readonly capability: CapabilityName;
  /** The verbs that need it. */
  readonly verbs: string;
  /** By type of backend; a type that cannot is absent. */
  readonly support: Readonly<Record<string, CapabilityKind>>;
}

/** A row for each capability; `types` in the order of the columns. */
export function capabilityMatrix(types: readonly Manifest[]): CapabilityRow[] {
  return (Object.keys(CAPABILITIES) as CapabilityName[]).map((capability) => ({
    capability,
    verbs: CAPABILITIES[capability],
    support: Object.fromEntries(
      types.flatMap(({ type, capabilities }) => {
        const kind = capabilities[capability];
        return kind === undefined ? [] : [[type, kind] as const];
      }),
    ),
  }));
}
