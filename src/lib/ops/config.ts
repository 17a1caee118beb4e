/** Reading and changing single settings by their dotted keys. Secrets that stand in the file are never given out. */
import type { Manifest } from '../backend/manifest.ts';
import { LOCAL, refuseUnknownValues } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { type Config, isEnvSetting } from '../store/config.ts';
import { isEnvName } from '../util/env-file.ts';
import { refuseLiteralSecret, withDefault } from './backends.ts';

/** A setting as it is shown. */
export interface ConfigEntry {
  readonly key: string;
  readonly value: unknown;
  /** The value is a secret and was left out. */
  readonly hidden?: true;
}

type Key =
  | { readonly kind: 'backend' }
  | { readonly kind: 'default'; readonly flag: string }
  | { readonly kind: 'option'; readonly backend: string; readonly option: string };

/** All settings, flat, in the order of the file. */
export function listConfig(config: Config, types: readonly Manifest[]): ConfigEntry[] {
  const entries: ConfigEntry[] = [];
  if (config.backend !== undefined) entries.push({ key: 'backend', value: config.backend });
  for (const [name, settings] of Object.entries(config.backends ?? {})) {
    for (const [option, value] of Object.entries(settings)) {
      const key = `backends.${name}.${option}`;
      entries.push(
        isHidden(types, settings.type, option, value) ? { key, value: null, hidden: true } : { key, value },
      );
    }
  }
  for (const [flag, value] of Object.entries(config.defaults ?? {}))
    entries.push({ key: `defaults.${flag}`, value });
  return entries;
}

/** One setting. @throws SbxError `not_found` when it is not set, `usage` for a key that cannot be. */
export function getConfig(config: Config, key: string, types: readonly Manifest[]): ConfigEntry {
  parseKey(key);
  const found = listConfig(config, types).find((entry) => entry.key === key);
  if (found === undefined)
    throw new SbxError('not_found', `${key} is not set`, { hint: 'see what is: sbx config ls' });
  return found;
}

/** What to put in: a text, or the name of an environment variable that has it. */
export type NewValue = { readonly text: string } | { readonly env: string };

/** The configuration with a setting changed. @throws SbxError `usage`, `not_found` for a backend that is not there. */
export function setConfig(config: Config, key: string, value: NewValue, types: readonly Manifest[]): Config {
  const target = parseKey(key);
  if ('env' in value && target.kind !== 'option') {
    throw new SbxError('usage', `${key} cannot come from an environment variable`, {
      hint: `sbx config set ${key} VALUE`,
    });
  }
  switch (target.kind) {
    case 'backend':
      return withDefault(config, textOf(value));
    case 'default':
      return { ...config, defaults: { ...config.defaults, [target.flag]: textOf(value) } };
    case 'option': {
      const { backend, option } = target;
      const settings = backendSettings(config, backend);
      const manifest = types.find(({ type }) => type === settings.type);
      if (option === 'type')
        throw new SbxError('usage', 'the type of a backend does not change', {
          hint: `sbx backend rm ${backend}`,
        });
      if (manifest !== undefined && !manifest.config.some(({ name }) => name === option)) {
        const known = manifest.config.map(({ name }) => name).join(', ') || 'none';
        throw new SbxError('usage', `backend '${backend}' (${settings.type}) has no option ${option}`, {
          hint: `its options: ${known}`,
        });
      }
      if ('env' in value) {
        // What stands here may be the secret itself, so it is not repeated.
        if (!isEnvName(value.env))
          throw new SbxError('usage', '--from-env takes the name of an environment variable');
        return withSettings(config, backend, { ...settings, [option]: { env: value.env } });
      }
      refuseLiteralSecret(manifest, option, `sbx config set ${key} --from-env VARIABLE`);
      const changed = { ...settings, [option]: value.text };
      if (manifest !== undefined) refuseUnknownValues(backend, manifest, changed, 'usage');
      return withSettings(config, backend, changed);
    }
  }
}

/** The configuration without a setting. @throws SbxError `not_found` when it is not set. */
export function unsetConfig(config: Config, key: string): Config {
  const target = parseKey(key);
  const missing = new SbxError('not_found', `${key} is not set`, { hint: 'see what is: sbx config ls' });
  switch (target.kind) {
    case 'backend': {
      const { backend, ...rest } = config;
      if (backend === undefined) throw missing;
      return rest;
    }
    case 'default': {
      const defaults = without(config.defaults ?? {}, target.flag);
      if (defaults === undefined) throw missing;
      return { ...config, defaults };
    }
    case 'option': {
      if (target.option === 'type')
        throw new SbxError('usage', 'a backend needs its type', { hint: `sbx backend rm ${target.backend}` });
      const settings = backendSettings(config, target.backend);
      const rest = without(settings, target.option);
      if (rest === undefined) throw missing;
      return withSettings(config, target.backend, { ...rest, type: settings.type });
    }
  }
}

function parseKey(key: string): Key {
  if (key === 'backend') return { kind: 'backend' };
  const flag = /^defaults\.([a-z][a-z0-9-]*)$/.exec(key)?.[1];
  if (flag === 'backend')
    throw new SbxError('usage', 'the default backend has a key of its own', { hint: 'sbx backend use NAME' });
  if (flag !== undefined) return { kind: 'default', flag };
  // A backend's name may hold dots, an option's may not.
  const [, backend, option] = /^backends\.(.+)\.([a-z][a-z0-9-]*)$/.exec(key) ?? [];
  if (backend !== undefined && option !== undefined) return { kind: 'option', backend, option };
  throw new SbxError('usage', `there is no setting '${key}'`, {
    hint: 'settings: backend, defaults.FLAG, backends.NAME.OPTION',
  });
}

function backendSettings(config: Config, name: string): NonNullable<Config['backends']>[string] {
  const backends = config.backends ?? {};
  const found = Object.hasOwn(backends, name) ? backends[name] : undefined;
  if (found !== undefined) return found;
  if (name === LOCAL) return { type: LOCAL };
  throw new SbxError('not_found', `no backend is called '${name}'`, {
    hint: `sbx backend add ${name} --type TYPE`,
  });
}

function withSettings(
  config: Config,
  name: string,
  settings: NonNullable<Config['backends']>[string],
): Config {
  return { ...config, backends: { ...config.backends, [name]: settings } };
}

/** A copy without `key`; undefined when it is not there. */
function without<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> | undefined {
  if (!Object.hasOwn(record, key)) return undefined;
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== key));
}

function textOf(value: NewValue): string {
  return 'text' in value ? value.text : value.env;
}

/** A literal is hidden when the type says it is a secret, or, for a type we do not know, always. */
function isHidden(types: readonly Manifest[], type: string, option: string, value: unknown): boolean {
  if (option === 'type' || isEnvSetting(value)) return false;
  const manifest = types.find((each) => each.type === type);
  if (manifest === undefined) return true;
  const known = manifest.config.find(({ name }) => name === option);
  return known === undefined || known.secret === true;
}
