/** Who we are to a registry, as `docker login` has noted it. docs.docker.com, "docker login", "Credential stores". */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { configFolder } from './address.ts';
import type { Docker } from './box.ts';

/** Docker Engine API, "AuthConfig". Holds a secret. */
export interface Login {
  readonly serveraddress: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly identitytoken?: string | undefined;
}

interface LoginFile {
  readonly auths?: Readonly<Record<string, { readonly auth?: string; readonly identitytoken?: string }>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

/** A registry. */
export interface Registry {
  /** As `docker login` takes it: empty for Docker Hub. */
  readonly host: string;
  /** What it is called in the file and by engines. */
  readonly address: string;
}

const HUB: Registry = { host: '', address: 'https://index.docker.io/v1/' };
const HUB_NAMES = ['docker.io', 'index.docker.io', 'registry-1.docker.io'];
const HELPER_TIMEOUT_MS = 30_000;

/** What to tell the registry of `image`; undefined where nobody has logged in. */
export async function loginFor(docker: Docker, image: string, call: Call): Promise<Login | undefined> {
  const file = readLogins(`${configFolder(docker.env)}/config.json`, docker.name);
  if (file === undefined) return undefined;
  const { address } = registryOf(image);
  const helper = file.credHelpers?.[address] ?? file.credsStore;
  const login = helper ? await askHelper(docker, helper, address, call) : loginIn(file, address);
  return login === undefined ? undefined : { ...login, serveraddress: address };
}

/** The registry of an image's name: its first part when that looks like a host. */
export function registryOf(image: string): Registry {
  const [first = ''] = image.split('/', 1);
  const isHost = image.includes('/') && (/[.:]/.test(first) || first === 'localhost');
  return isHost && !HUB_NAMES.includes(first) ? { host: first, address: first } : HUB;
}

function readLogins(path: string, backend: string): LoginFile | undefined {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as LoginFile | null) ?? undefined;
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    // No reason: a parser would quote what stands there.
    throw new SbxError('failed', `cannot read ${path}`, {
      backend,
      hint: 'it has to be JSON that you may read; docker login writes it',
    });
  }
}

/** Old files have a scheme and a path around the host. */
function loginIn({ auths = {} }: LoginFile, address: string): Omit<Login, 'serveraddress'> | undefined {
  const host = (key: string) => key.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
  const key = address in auths ? address : Object.keys(auths).find((each) => host(each) === host(address));
  const entry = key === undefined ? undefined : auths[key];
  if (entry?.identitytoken) return { identitytoken: entry.identitytoken };
  if (!entry?.auth) return undefined;
  const [username = '', ...password] = Buffer.from(entry.auth, 'base64').toString('utf8').split(':');
  return { username, password: password.join(':').replace(/\0+$/, '') };
}

/** Programs that keep passwords: the registry goes in, JSON comes out, and a failure means that they know none. */
async function askHelper(
  { env, notice }: Docker,
  helper: string,
  address: string,
  { signal }: Call,
): Promise<Omit<Login, 'serveraddress'> | undefined> {
  const program = `docker-credential-${helper}`;
  const { error, stdout } = await new Promise<{ error: unknown; stdout: string }>((resolve) => {
    const options = { env, timeout: HELPER_TIMEOUT_MS, signal };
    const child = execFile(program, ['get'], options, (error, stdout) => resolve({ error, stdout }));
    // One that reads nothing tells by its exit code.
    child.stdin?.on('error', () => undefined).end(address);
  });
  if (hasErrno(error, 'ENOENT', 'EACCES'))
    notice(`${program} cannot be run: the image is pulled without a login`);
  if (error !== null) return undefined;
  const answer = parsed(stdout);
  if (answer === undefined)
    notice(`${program} gives no login that can be read: the image is pulled without one`);
  if (answer === undefined || answer.Secret === undefined) return undefined;
  const { Username, Secret } = answer;
  return Username === '<token>' ? { identitytoken: Secret } : { username: Username, password: Secret };
}

function parsed(text: string): { readonly Username?: string; readonly Secret?: string } | undefined {
  try {
    return (JSON.parse(text) as { Username?: string; Secret?: string } | null) ?? undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
