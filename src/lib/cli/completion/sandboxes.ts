/** Names of sandboxes, and the sandbox that a command line is about. */
import type { Sandbox, SandboxInfo } from '../../backend/contract.ts';
import { listSandboxes } from '../../ops/list.ts';
import { splitRef } from '../../ops/resolve-sandbox.ts';
import type { Asked, World } from './asked.ts';
import type { Candidate } from './candidates.ts';
import { completersOf } from './facts.ts';

/**
 * Sandboxes of the default backend by name, and the other backends as `BACKEND/`: only one that is named is asked.
 * @param states only those in one of these, with commas between them
 */
export async function sandboxNames(
  { word }: Pick<Asked, 'word'>,
  states: string | undefined,
  world: World,
): Promise<Candidate[]> {
  const backends = await world.backends();
  const slash = word.indexOf('/');
  const named = slash < 0 ? undefined : word.slice(0, slash);
  if (named !== undefined && !backends.names().includes(named)) return [];
  const backend = named ?? backends.default();
  const query = { all: states !== 'running', backends: [backend] };
  const { sandboxes } = await listSandboxes(backends, query, world.call);
  const found: Candidate[] = sandboxes
    .filter(({ state }) => states === undefined || states.split(',').includes(state))
    .map((info) => ({
      value: named === undefined ? info.name : `${named}/${info.name}`,
      description: about(info),
    }));
  if (named !== undefined || world.chosen !== undefined) return found;
  const others = backends.names().filter((name) => name !== backend);
  return [...found, ...others.map((name) => ({ value: `${name}/`, description: 'backend', goesOn: true }))];
}

function about({ state, image }: SandboxInfo): string {
  return image === undefined ? state : `${state}, ${image}`;
}

/** The sandbox that the words name, else `$SBX_SANDBOX`, else the only running one; undefined: none is obvious. */
export async function sandboxOf(asked: Asked, world: World): Promise<Sandbox | undefined> {
  return openSandbox(namedIn(asked) ?? (world.env.SBX_SANDBOX || undefined), world);
}

/** The sandbox of that name, else the only running one. */
export async function openSandbox(ref: string | undefined, world: World): Promise<Sandbox | undefined> {
  const backends = await world.backends();
  if (ref !== undefined) {
    const { backend, name } = splitRef(ref);
    return (await backends.get(backend)).get(name, world.call);
  }
  const query = { all: false, ...(world.chosen === undefined ? {} : { backends: [world.chosen] }) };
  const [only, second] = (await listSandboxes(backends, query, world.call)).sandboxes;
  if (only === undefined || second !== undefined) return undefined;
  return (await backends.get(only.backend)).get(only.id, world.call);
}

/** What stands where the command takes a sandbox. */
function namedIn({ command, args }: Asked): string | undefined {
  const place = (command?.args ?? []).findIndex((arg) =>
    completersOf(arg).some((name) => /^sandbox\b/.test(name)),
  );
  const given = place < 0 ? undefined : args[place];
  // Where a sandbox may be left out, something else stands in its place.
  return given === undefined || /^[\d:[]/.test(given) ? undefined : given;
}
