/**
 * Where sbx keeps its files on this machine, after the XDG base directory rules. Pure and cheap: nothing is read or
 * made before a path is asked for, and then only the password entry, when there is no HOME.
 */
import { userInfo } from 'node:os';
import { SbxError } from '../errors.ts';

/** Absolute folders; none of them need exist. */
export interface StorePaths {
  readonly config: string;
  readonly state: string;
  readonly cache: string;
  /** For sockets: gone after a reboot where the system has such a place. */
  readonly runtime: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The folders for an environment. `SBX_CONFIG_DIR` and `SBX_STATE_DIR` win over the XDG variables; relative values of
 * the XDG variables are ignored, as the rules say, while a relative `SBX_…` is refused.
 * Each getter throws SbxError `failed` when there is no home directory to derive it from.
 */
export function storePaths(env: Env, user: () => { readonly homedir: string | null } = userInfo): StorePaths {
  const under = (xdg: string, fallback: string, own: string): string => {
    const value = env[xdg];
    return `${isAbsolute(value) ? trimmed(value) : `${home(env, user, own)}/${fallback}`}/sbx`;
  };
  const state = () =>
    override(env, 'SBX_STATE_DIR') ?? under('XDG_STATE_HOME', '.local/state', 'SBX_STATE_DIR');
  return {
    get config() {
      return override(env, 'SBX_CONFIG_DIR') ?? under('XDG_CONFIG_HOME', '.config', 'SBX_CONFIG_DIR');
    },
    get state() {
      return state();
    },
    get cache() {
      return under('XDG_CACHE_HOME', '.cache', 'XDG_CACHE_HOME');
    },
    get runtime() {
      // A state folder that was named means: everything of this sbx lives there, apart from any other's.
      const base = override(env, 'SBX_STATE_DIR') === undefined ? env.XDG_RUNTIME_DIR : undefined;
      return isAbsolute(base) ? `${trimmed(base)}/sbx` : `${state()}/run`;
    },
  };
}

function override(env: Env, name: string): string | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  if (!isAbsolute(value)) {
    throw new SbxError('usage', `${name} must be an absolute path`, {
      hint: `export ${name}="$PWD/${value}"`,
    });
  }
  return trimmed(value);
}

function home(env: Env, user: () => { readonly homedir: string | null }, variable: string): string {
  if (isAbsolute(env.HOME)) return trimmed(env.HOME);
  let entry: string | null;
  try {
    entry = user().homedir;
  } catch (cause) {
    throw noHome(variable, cause);
  }
  if (entry === null || !isAbsolute(entry)) throw noHome(variable, undefined);
  return trimmed(entry);
}

function noHome(variable: string, cause: unknown): SbxError {
  return new SbxError(
    'failed',
    'there is no home directory: HOME is not set and this user has no password entry',
    {
      hint: `set HOME, or name a folder: export ${variable}=/path/to/folder`,
      cause,
    },
  );
}

function isAbsolute(value: string | undefined): value is string {
  return value?.startsWith('/') === true;
}

function trimmed(path: string): string {
  return path.replace(/(?<=.)\/+$/, '');
}
