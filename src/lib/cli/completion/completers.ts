/**
 * The completers that arguments and flags name in their `completes`: kinds of things, whatever the verb. A name may
 * have a detail behind a colon, as in `sandbox:running`.
 */
import type { SignalName } from '../../backend/contract.ts';
import type { Asked, Completer, Found, World } from './asked.ts';
import type { Candidate } from './candidates.ts';
import { copyEnds, egressTokens, paths, ports, processes, sessions, variables } from './inside.ts';
import { sandboxNames } from './sandboxes.ts';

const NOTHING: Found = { candidates: [] };

/** A completer that needs no more than what it finds. */
function listing(find: (asked: Asked, world: World) => Promise<Candidate[]> | Candidate[]): Completer {
  return async (asked, world) => ({ candidates: await find(asked, world) });
}

const SIGNALS: readonly SignalName[] = ['TERM', 'INT', 'HUP', 'QUIT', 'KILL', 'USR1', 'USR2', 'STOP', 'CONT'];

/** All completers by name. */
export const completers: Readonly<Record<string, Completer>> = {
  /** Free text: a name to be made up, a number, a pattern. */
  none: () => NOTHING,
  sandbox: listing((asked, world) => sandboxNames(asked, asked.detail, world)),
  session: sessions,
  process: processes,
  port: ports,
  variable: variables,
  'egress-token': egressTokens,
  path: paths,
  copy: copyEnds,
  file: () => ({ candidates: [], local: 'files' }),
  folder: () => ({ candidates: [], local: 'folders' }),
  signal: () => ({ candidates: SIGNALS.map((value) => ({ value })) }),
  /** Those that every backend may know; others have names of the backend's own. */
  network: () => ({ candidates: ['private', 'host', 'none'].map((value) => ({ value })) }),
  backend: listing(async (_, world) => {
    const backends = await world.backends();
    return backends.names().map((value) => ({ value, description: backends.describe(value).type }));
  }),
  'backend-type': listing(async (_, world) =>
    (await world.backends()).types().map(({ type, title }) => ({ value: type, description: title })),
  ),
  'backend-option': listing(async ({ flags }, world) => {
    const type = flags.get('type')?.at(-1);
    const options = (await world.backends()).types().find((each) => each.type === type)?.config ?? [];
    return options.map(({ name, description }) => ({ value: `${name}=`, description, goesOn: true }));
  }),
  'local-variable': listing((_, { env }) => Object.keys(env).map((value) => ({ value }))),
  setting: listing(async (_, { paths: { config }, backends }) => {
    const [{ readConfig }, { listConfig }] = await Promise.all([
      import('../../store/config.ts'),
      import('../../ops/config.ts'),
    ]);
    const given = listConfig(readConfig(config), (await backends()).types());
    return given.map(({ key }) => ({ value: key }));
  }),
  snapshot: listing(async ({ word }, world) => {
    const { listSnapshots } = await import('../../ops/snapshot.ts');
    const backends = await world.backends();
    const slash = word.indexOf('/');
    const before = slash < 0 ? '' : word.slice(0, slash + 1);
    const backend = before === '' ? backends.default() : before.slice(0, -1);
    const { snapshots } = await listSnapshots(backends, backend, world.call);
    return snapshots.flatMap(({ id, name, sandbox, createdAt }) => {
      const description = sandbox === undefined ? createdAt : `of ${sandbox}, ${createdAt}`;
      const begun = word.length > before.length && `${before}${id}`.startsWith(word);
      const names = name === undefined ? [id] : begun ? [name, id] : [name];
      return names.map((each) => ({ value: `${before}${each}`, description }));
    });
  }),
  forward: listing(async (_, world) => {
    const { listForwards } = await import('../../ops/forward/records.ts');
    const { forwards } = await listForwards(world.paths.state);
    return forwards.map(({ id, sandbox, state }) => ({ value: id, description: `${sandbox}, ${state}` }));
  }),
  /** What can be waited for. */
  condition: async (asked, world) => {
    const [, kind, rest = ''] = /^(port|process):(.*)$/.exec(asked.word) ?? [];
    if (kind === undefined) {
      const waits: Candidate[] = [{ value: 'running' }, { value: 'stopped' }];
      for (const value of ['port:', 'process:']) waits.push({ value, goesOn: true });
      return { candidates: waits };
    }
    const look = kind === 'port' ? ports : processes;
    const { candidates } = await look({ ...asked, word: rest, isOneOfMany: false, detail: undefined }, world);
    return { candidates: candidates.map((each) => ({ ...each, value: `${kind}:${each.value}` })) };
  },
};
