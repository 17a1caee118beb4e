/** The sandbox's own environment. Values may be secrets: no error holds one. */
import type { Call, Sandbox } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { type EnvLookup, isEnvName, parseEnvAssignments } from '../util/env-file.ts';

/** One variable. */
export interface EnvEntry {
  readonly name: string;
  readonly value: string;
}

/** The variables, sorted by name. */
export async function listEnv(sandbox: Sandbox, having: CapabilityIndex, call: Call): Promise<EnvEntry[]> {
  const all = await need(sandbox, 'env', having).get(call);
  return Object.entries(all)
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Sets all of `variables`, or none when it fails. */
export async function setEnv(
  sandbox: Sandbox,
  variables: Readonly<Record<string, string>>,
  having: CapabilityIndex,
  call: Call,
): Promise<void> {
  await need(sandbox, 'env', having).update(variables, call);
}

/**
 * Takes variables out. @throws SbxError `usage` for a bad name, `not_found` for one that is not set, and then nothing
 * is changed.
 */
export async function unsetEnv(
  sandbox: Sandbox,
  names: readonly string[],
  options: { readonly having: CapabilityIndex; readonly ignoreMissing: boolean },
  call: Call,
): Promise<void> {
  const bad = names.find((name) => !isEnvName(name));
  if (bad !== undefined)
    throw new SbxError('usage', `${JSON.stringify(bad)} is no name of an environment variable`);
  const store = need(sandbox, 'env', options.having);
  const present = await store.get(call);
  const missing = names.find((name) => !Object.hasOwn(present, name));
  if (missing !== undefined && !options.ignoreMissing) {
    throw new SbxError('not_found', `${missing} is not set in sandbox '${sandbox.name}'`, {
      hint: `sbx env ls ${sandbox.name}`,
    });
  }
  await store.update(Object.fromEntries(names.map((name) => [name, null])), call);
}

/** `K=V` and `K` items; unlike for `exec`, a `K` that the user does not have is a mistake. @throws SbxError `usage` */
export function parseSettings(items: readonly string[], lookup: EnvLookup): Record<string, string> {
  const found = parseEnvAssignments(items, lookup);
  const absent = items.find((item) => !item.includes('=') && !Object.hasOwn(found, item.trim()));
  if (absent === undefined) return found;
  throw new SbxError('usage', `${absent} is not set in your own environment, so it cannot be passed on`, {
    hint: `give it a value: ${absent}=VALUE`,
  });
}
