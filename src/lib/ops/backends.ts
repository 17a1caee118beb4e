/** Configured backends: listing, checking, adding, choosing and removing them. */
import type { Call, CheckResult } from '../backend/contract.ts';
import type { Manifest } from '../backend/manifest.ts';
import {
  type Backends,
  configuredBackends,
  LOCAL,
  refuseUnknownOptions,
  refuseUnknownValues,
  unknownBackend,
  unknownType,
} from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { type BackendConfig, type Config, isBackendName, type Setting } from '../store/config.ts';
import { isEnvName } from '../util/env-file.ts';

/** A backend and, when it was checked, how it is. */
export interface BackendSummary {
  readonly name: string;
  readonly type: string;
  readonly title: string | undefined;
  readonly default: boolean;
  readonly status?: CheckResult['status'] | undefined;
  /** The first thing that is wrong. */
  readonly problem?: string | undefined;
}

/** The configured backends; with `check` each is asked how it is, all at the same time. */
export async function listBackends(
  backends: Backends,
  check: boolean,
  call: Call,
): Promise<BackendSummary[]> {
  return Promise.all(
    backends.names().map(async (name) => {
      const { type, isDefault, manifest } = backends.describe(name);
      const summary = { name, type, title: manifest?.title, default: isDefault };
      if (!check) return summary;
      const results = await checkBackend(backends, name, call);
      const worst = worstOf(results);
      return {
        ...summary,
        status: worst?.status ?? 'ok',
        problem: worst === undefined ? undefined : worst.detail,
      };
    }),
  );
}

/** What a backend says of itself; one that cannot be opened is one failed check. Rejects for an unknown name. */
export async function checkBackend(
  backends: Backends,
  name: string,
  call: Call,
): Promise<readonly CheckResult[]> {
  backends.describe(name);
  try {
    return await (await backends.get(name)).check(call);
  } catch (error) {
    if (!(error instanceof SbxError) || error.code === 'interrupted') throw error;
    return [{ name: 'open', status: 'failed', detail: error.message, hint: error.hint }];
  }
}

/** The first failure, else the first warning. */
export function worstOf(results: readonly CheckResult[]): CheckResult | undefined {
  return (
    results.find(({ status }) => status === 'failed') ?? results.find(({ status }) => status === 'warning')
  );
}

/** What to add. */
export interface NewBackend {
  readonly name: string;
  readonly type: string;
  /** `OPTION=VALUE` each. */
  readonly set: readonly string[];
  /** `OPTION=VARIABLE` each: the option's value is that environment variable's. */
  readonly setEnv: readonly string[];
  /** The environment variable with the type's one secret. */
  readonly tokenEnv?: string | undefined;
  /** Make it the default. */
  readonly use: boolean;
}

/** The settings that `wanted` stands for. @throws SbxError `usage` for an unknown type or option, and for a secret on the command line. */
export function settingsOf(wanted: NewBackend, types: readonly Manifest[]): BackendConfig {
  const { name, type } = wanted;
  if (!isBackendName(name)) {
    throw new SbxError('usage', `'${name}' cannot be the name of a backend`, {
      hint: "letters, digits, '.', '_' and '-'",
    });
  }
  const manifest = types.find((each) => each.type === type);
  if (manifest === undefined)
    throw unknownType(
      type,
      types.map((each) => each.type),
    );
  const settings = new Map<string, Setting>();
  const put = (option: string, value: Setting) => {
    if (settings.has(option)) throw new SbxError('usage', `${option} is given more than once`);
    settings.set(option, value);
  };
  for (const item of wanted.set) {
    const [option, value] = pair(item, '--set');
    refuseLiteralSecret(
      manifest,
      option,
      `sbx backend add ${name} --type ${type} --set-env ${option}=VARIABLE`,
    );
    put(option, value);
  }
  for (const item of wanted.setEnv) {
    const [option, variable] = pair(item, '--set-env');
    put(option, { env: variableName(variable, '--set-env') });
  }
  if (wanted.tokenEnv !== undefined)
    put(onlySecret(manifest), { env: variableName(wanted.tokenEnv, '--token-env') });
  const made: BackendConfig = { ...Object.fromEntries(settings), type };
  if (settings.has('type')) throw new SbxError('usage', 'the type is given with --type');
  try {
    refuseUnknownOptions(name, manifest, made);
    refuseUnknownValues(name, manifest, made);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    throw new SbxError('usage', error.message, { hint: error.hint });
  }
  return made;
}

/** The configuration with the backend added. @throws SbxError `conflict` when the name is taken. */
export function withBackend(config: Config, name: string, settings: BackendConfig, use: boolean): Config {
  if (Object.hasOwn(config.backends ?? {}, name)) {
    throw new SbxError('conflict', `a backend is already called '${name}'`, {
      hint: `sbx backend rm ${name}`,
    });
  }
  if (settings.type === LOCAL) {
    // A second one would have the same sandboxes under another name.
    throw new SbxError('conflict', `the backend of this machine, '${LOCAL}', is always there`, {
      hint: `sbx backend use ${LOCAL}`,
    });
  }
  if (name === LOCAL) {
    throw new SbxError('usage', `'${LOCAL}' is the name of the backend of this machine`, {
      hint: 'choose another name',
    });
  }
  return { ...config, backends: { ...config.backends, [name]: settings }, ...(use ? { backend: name } : {}) };
}

/** The configuration with another default. @throws SbxError `not_found` */
export function withDefault(config: Config, name: string): Config {
  requireBackend(config, name);
  return { ...config, backend: name };
}

/** The configuration without the backend, and without it as the default. @throws SbxError `not_found`; `conflict` for the one that is always there. */
export function withoutBackend(config: Config, name: string): Config {
  requireBackend(config, name);
  const { [name]: gone, ...backends } = config.backends ?? {};
  if (gone === undefined)
    throw new SbxError('conflict', `'${name}' needs no configuration and cannot be removed`);
  const { backend, ...rest } = config;
  return { ...rest, backends, ...(backend === undefined || backend === name ? {} : { backend }) };
}

/** @throws SbxError `usage` when a value for a secret option stands on the command line, where every process can read it. */
export function refuseLiteralSecret(manifest: Manifest | undefined, option: string, instead: string): void {
  if (manifest?.config.find((each) => each.name === option)?.secret !== true) return;
  throw new SbxError('usage', `${option} is a secret and must not stand on the command line`, {
    hint: `name the environment variable that has it: ${instead}`,
  });
}

function requireBackend(config: Config, name: string): void {
  const names = [...configuredBackends(config).keys()];
  if (!names.includes(name)) throw unknownBackend(name, names);
}

function onlySecret(manifest: Manifest): string {
  const secrets = manifest.config.filter(({ secret }) => secret === true).map(({ name }) => name);
  const [only] = secrets;
  if (only !== undefined && secrets.length === 1) return only;
  throw new SbxError(
    'usage',
    `type '${manifest.type}' has ${only === undefined ? 'no secret' : 'more than one secret'}`,
    {
      hint: only === undefined ? 'leave --token-env out' : `use --set-env with one of: ${secrets.join(', ')}`,
    },
  );
}

function variableName(name: string, flag: string): string {
  if (isEnvName(name)) return name;
  // What stands here may be the secret itself, so it is not repeated.
  throw new SbxError('usage', `${flag} takes the name of an environment variable, not a value`);
}

function pair(item: string, flag: string): [string, string] {
  const at = item.indexOf('=');
  if (at > 0) return [item.slice(0, at), item.slice(at + 1)];
  throw new SbxError('usage', `${flag} takes OPTION=VALUE`);
}
