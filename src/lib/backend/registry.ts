/** The configured backends: names to types, settings to opened backends. Loads a backend when it is asked for. */
import { statSync } from 'node:fs';
import { type ErrorCode, SbxError } from '../errors.ts';
import { type BackendConfig, type Config, configPath, isEnvSetting, readConfig } from '../store/config.ts';
import type { StorePaths } from '../store/paths.ts';
import { nearNames } from '../util/name.ts';
import type { Backend } from './contract.ts';
import type { CapabilityName, Manifest } from './manifest.ts';

/** What a backend is opened with. */
export interface BackendOptions {
  /** The configured name. */
  readonly name: string;
  /** The options of the manifest's `config` that have a value. May hold secrets. */
  readonly settings: Readonly<Record<string, string>>;
  readonly paths: StorePaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Tells the user one line on stderr. */
  readonly notice: (line: string) => void;
}

/** A type of backend: what it is, and the way to its code. */
export interface BackendType {
  readonly manifest: Manifest;
  readonly open: (options: BackendOptions) => Promise<Backend>;
}

/** The types of backends, by name. */
export type Catalog = Readonly<Record<string, BackendType>>;

/** Access to the configured backends. */
export interface Backends {
  /**
   * Opens a backend, the default one without a name; the same one each time.
   * @throws SbxError `not_found` for a name that is not configured; `auth` or `failed` when a setting is missing.
   */
  get(name?: string): Promise<Backend>;
  /** The configured names, `local` among them always. */
  names(): readonly string[];
  /** The name of the default backend. */
  default(): string;
  /** Opens them one after the other. Those that cannot be opened are left out until the end, where the first failure is thrown. */
  all(): AsyncIterable<Backend>;
  /** The types that have a capability. */
  having(capability: CapabilityName): string[];
  /** What is known of a backend without opening it; `manifest` is absent for a type that this sbx does not have. */
  describe(name: string): ConfiguredBackend;
  /** All types. */
  types(): readonly Manifest[];
}

/** A backend as configured. */
export interface ConfiguredBackend {
  readonly name: string;
  readonly type: string;
  readonly isDefault: boolean;
  readonly manifest: Manifest | undefined;
  readonly settings: BackendConfig;
}

/** The backend that is there without configuration, and its type. */
export const LOCAL = 'local';

export interface OpenBackendsOptions {
  readonly catalog: Catalog;
  readonly paths: StorePaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `--backend` says. */
  readonly preferred?: string | undefined;
  readonly notice: (line: string) => void;
}

/** Reads the configuration. @throws SbxError `failed` with the path when the config file is no good. */
export function openBackends(options: OpenBackendsOptions): Backends {
  const { catalog, paths } = options;
  const config = readConfig(paths.config);
  const configured = configuredBackends(config);
  const opened = new Map<string, Promise<Backend>>();

  const defaultName = () => options.preferred ?? config.backend ?? LOCAL;
  const describe = (name: string): ConfiguredBackend => {
    const settings = configured.get(name);
    if (settings === undefined) throw unknownBackend(name, [...configured.keys()]);
    const manifest = typeOf(catalog, settings.type)?.manifest;
    return { name, type: settings.type, isDefault: name === defaultName(), manifest, settings };
  };
  const open = async (name: string): Promise<Backend> => {
    const { type, settings } = describe(name);
    const found = typeOf(catalog, type);
    if (found === undefined) throw unknownType(type, Object.keys(catalog), name);
    const resolved = resolveSettings(name, found.manifest, settings, options.env);
    refuseOpenSecrets(found.manifest, settings, paths.config);
    return found.open({ name, settings: resolved, paths, env: options.env, notice: options.notice });
  };
  const get = (name = defaultName()): Promise<Backend> => {
    const present = opened.get(name) ?? open(name);
    opened.set(name, present);
    return present;
  };
  return {
    get,
    names: () => [...configured.keys()],
    default: defaultName,
    async *all() {
      const failures: unknown[] = [];
      for (const name of configured.keys()) {
        const backend = await get(name).catch((error: unknown) => void failures.push(error));
        if (backend !== undefined) yield backend;
      }
      if (failures.length > 0) throw failures[0];
    },
    having: (capability) =>
      Object.values(catalog)
        .filter(({ manifest }) => manifest.capabilities[capability] !== undefined)
        .map(({ manifest }) => manifest.type),
    describe,
    types: () => Object.values(catalog).map(({ manifest }) => manifest),
  };
}

/** The configured backends by name; `local` is there unless the file says otherwise, and comes first. */
export function configuredBackends(config: Config): Map<string, BackendConfig> {
  return new Map([[LOCAL, { type: LOCAL }], ...Object.entries(config.backends ?? {})]);
}

/**
 * The values of a backend's options: from the file, from the variable the file names, or from the option's own variable.
 * @throws SbxError that names everything that is missing and where to get it.
 */
export function resolveSettings(
  name: string,
  manifest: Manifest,
  settings: BackendConfig,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  refuseUnknownOptions(name, manifest, settings);
  refuseUnknownValues(name, manifest, settings);
  const values: Record<string, string> = {};
  const missing: { readonly what: string; readonly how: string; readonly secret: boolean }[] = [];
  for (const option of manifest.config) {
    const given = Object.hasOwn(settings, option.name) ? settings[option.name] : undefined;
    const variable = isEnvSetting(given) ? given.env : given === undefined ? option.env : undefined;
    const value = variable === undefined ? given : env[variable] || undefined;
    if (value !== undefined) values[option.name] = String(value);
    else if (option.required || given !== undefined) {
      const get = option.from === undefined ? '' : ` (${option.description}; get it: ${option.from})`;
      const set = `sbx config set backends.${name}.${option.name} VALUE`;
      missing.push({
        what: variable === undefined ? option.name : `$${variable}`,
        how: `${variable === undefined ? set : `export ${variable}=…`}${get}`,
        secret: option.secret === true,
      });
    }
  }
  if (missing.length === 0) return values;
  const names = missing.map(({ what }) => what).join(' and ');
  const code = missing.some(({ secret }) => secret) ? 'auth' : 'failed';
  throw new SbxError(
    code,
    `backend '${name}' (${manifest.type}) needs ${names}, which ${missing.length > 1 ? 'are' : 'is'} not set`,
    {
      backend: name,
      hint: missing.map(({ how }) => how).join('; '),
    },
  );
}

/** An option that the type does not know would be ignored. */
export function refuseUnknownOptions(name: string, manifest: Manifest, settings: BackendConfig): void {
  const known = manifest.config.map((option) => option.name);
  const unknown = Object.keys(settings).filter((option) => option !== 'type' && !known.includes(option));
  if (unknown.length === 0) return;
  throw new SbxError('failed', `backend '${name}' (${manifest.type}) has no option ${unknown.join(', ')}`, {
    backend: name,
    hint:
      known.length > 0
        ? `its options: ${known.join(', ')}`
        : `sbx config unset backends.${name}.${unknown[0]}`,
  });
}

/** A value that the type does not know would be ignored, too. */
export function refuseUnknownValues(
  name: string,
  manifest: Manifest,
  settings: BackendConfig,
  code: ErrorCode = 'failed',
): void {
  for (const { name: option, values } of manifest.config) {
    const given = settings[option];
    if (values === undefined || typeof given !== 'string' || values.includes(given)) continue;
    throw new SbxError(code, `backend '${name}': ${option} cannot be ${JSON.stringify(given)}`, {
      backend: name,
      hint: `sbx config set backends.${name}.${option} ${values.join('|')}`,
    });
  }
}

/** The `failed` error for a type that this sbx does not have. */
export function unknownType(type: string, types: readonly string[], backend?: string): SbxError {
  const near = nearNames(type, types);
  const where = backend === undefined ? '' : `backend '${backend}': `;
  return new SbxError(
    backend === undefined ? 'usage' : 'failed',
    `${where}there is no backend type '${type}'`,
    {
      backend,
      hint: `${near.length > 0 ? `did you mean ${near.join(' or ')}? ` : ''}types: ${types.join(', ')}`,
    },
  );
}

/** The `not_found` error for a name that is not configured. */
export function unknownBackend(name: string, names: readonly string[]): SbxError {
  const near = nearNames(name, names);
  const guess = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
  return new SbxError('not_found', `no backend is called '${name}'`, {
    hint: `${guess}see all: sbx backend ls`,
  });
}

/** The type of this name, never something that every object inherits. */
export function typeOf(catalog: Catalog, type: string): BackendType | undefined {
  return Object.hasOwn(catalog, type) ? catalog[type] : undefined;
}

/** A secret that stands in the file itself must be readable by nobody else. */
function refuseOpenSecrets(manifest: Manifest, settings: BackendConfig, folder: string): void {
  const secrets = manifest.config.filter((option) => option.secret === true).map((option) => option.name);
  if (!secrets.some((name) => Object.hasOwn(settings, name) && !isEnvSetting(settings[name]))) return;
  const path = configPath(folder);
  if ((statSync(path).mode & 0o077) === 0) return;
  throw new SbxError('failed', `${path} holds a secret and others may read it`, {
    hint: `chmod 600 ${path}`,
  });
}
