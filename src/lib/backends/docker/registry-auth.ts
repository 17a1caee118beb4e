/** Who we are to a registry, as `docker login` has noted it. docs.docker.com, "docker login", "Credential stores". */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { hasErrno, SbxError } from '../../errors.ts';
import { configFolder } from './address.ts';
import type { Docker } from './box.ts';

interface LoginFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

/** What Docker Hub is called in the file. */
const HUB = 'https://index.docker.io/v1/';
const HELPER_TIMEOUT_MS = 30_000;

/** The value of X-Registry-Auth for `image`; undefined where nobody has logged in. */
export function registryAuth({ env, name }: Pick<Docker, 'env' | 'name'>, image: string): string | undefined {
  const path = `${configFolder(env)}/config.json`;
  const file = readLogins(path, name);
  if (file === undefined) return undefined;
  const registry = registryOf(image);
  const helper = file.credHelpers?.[registry] ?? file.credsStore;
  const login = helper === undefined ? loginIn(file, registry) : askHelper(helper, registry, env);
  if (login === undefined) return undefined;
  return Buffer.from(JSON.stringify({ ...login, serveraddress: registry })).toString('base64url');
}

/** The registry of an image's name: its first part when that looks like a host. */
function registryOf(image: string): string {
  const [first = ''] = image.split('/', 1);
  return image.includes('/') && (/[.:]/.test(first) || first === 'localhost') ? first : HUB;
}

function readLogins(path: string, backend: string): LoginFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LoginFile;
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new SbxError('failed', `cannot read ${path}`, { backend, cause });
  }
}

function loginIn({ auths = {} }: LoginFile, registry: string): object | undefined {
  const entry = auths[registry] ?? auths[`https://${registry}`];
  if (entry?.identitytoken) return { identitytoken: entry.identitytoken };
  if (!entry?.auth) return undefined;
  const [username = '', ...password] = Buffer.from(entry.auth, 'base64').toString('utf8').split(':');
  return { username, password: password.join(':').replace(/\0+$/, '') };
}

/** Programs that keep passwords: the registry goes in, JSON comes out, and a failure means that they know none. */
function askHelper(helper: string, registry: string, env: Docker['env']): object | undefined {
  const { stdout, status, error } = spawnSync(`docker-credential-${helper}`, ['get'], {
    input: registry,
    env,
    encoding: 'utf8',
    timeout: HELPER_TIMEOUT_MS,
  });
  if (error !== undefined || status !== 0) return undefined;
  const { Username, Secret } = JSON.parse(stdout) as { Username?: string; Secret?: string };
  return Username === '<token>' ? { identitytoken: Secret } : { username: Username, password: Secret };
}
