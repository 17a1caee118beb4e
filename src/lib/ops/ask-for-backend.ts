/** Which configured backend a command means where none is named. */
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { facts, pick } from './pick.ts';
import type { ResolveContext } from './resolve-sandbox.ts';

/** Lets somebody choose among `names`. @throws SbxError `usage` when nobody can be asked; `not_found` when there is none */
export async function askForBackend(
  context: Pick<ResolveContext, 'prompter' | 'backends'>,
  command: string,
  names: (backends: Backends) => readonly string[] = (backends) => backends.names(),
): Promise<string> {
  const backends = await context.backends();
  const all = names(backends);
  return pick(context, {
    message: 'Which backend?',
    items: async () => all,
    choice: (name) => ({ name, description: describeBackend(backends, name) }),
    missing: new SbxError('usage', 'no backend is named', {
      hint: `sbx ${command} ${all[0] ?? 'NAME'}; see them: sbx backend ls`,
    }),
    none: new SbxError('not_found', 'there is no backend to choose', {
      hint: 'add one: sbx backend add NAME --type TYPE',
    }),
  });
}

/** What is known of a backend, in a few words. */
export function describeBackend(backends: Backends, name: string): string {
  const { type, isDefault, manifest } = backends.describe(name);
  return facts(isDefault ? 'the default' : undefined, manifest?.title ?? type);
}
