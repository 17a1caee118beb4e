/**
 * Where the engine listens: settings, then DOCKER_HOST, then docker's contexts, then the usual sockets; the order that
 * the docker command keeps (docs.docker.com, "Docker contexts", and cli/command/cli.go, resolveContextName).
 */
import { existsSync, readFileSync } from 'node:fs';
import { hasErrno, SbxError } from '../../errors.ts';

/** A place that an engine can be reached at. */
export type EngineAddress =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: TlsFiles | undefined }
  | { readonly kind: 'program'; readonly url: string; readonly argv: readonly [string, ...string[]] };

/** Paths of PEM files; those that are not there are left out. */
export interface TlsFiles {
  /** Where they were looked for; undefined when nothing names a folder. */
  readonly folder: string | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Whether the engine must prove who it is. */
  readonly verify: boolean;
}

export interface AddressOptions {
  readonly backend: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TLS_PORT = 2376;
const PLAIN_PORT = 2375;

/** The address to use. @throws SbxError `failed` for one that cannot be understood or a context that is not there. */
export async function findAddress(options: AddressOptions): Promise<EngineAddress> {
  const { settings, env } = options;
  const certs = settings['cert-path'];
  if (settings.host !== undefined) return parseAddress(settings.host, tlsOf(options, certs), options);
  if (settings.context === undefined && env.DOCKER_HOST)
    return parseAddress(env.DOCKER_HOST, tlsOf(options, certs), options);
  const context = settings.context ?? (env.DOCKER_CONTEXT || currentContext(options));
  if (context !== undefined && context !== 'default') {
    const { readContext } = await import('./context-files.ts');
    const { host, tls } = await readContext(configFolder(env), context, options.backend);
    // The variables go with DOCKER_HOST.
    return parseAddress(host, tls ?? (certs === undefined ? undefined : tlsFiles(certs, true)), options);
  }
  return { kind: 'socket', path: usualSocket(env) };
}

/** How an address is written, for messages. */
export function addressText(address: EngineAddress): string {
  switch (address.kind) {
    case 'socket':
      return `unix://${address.path}`;
    case 'tcp':
      return `tcp://${hostAndPort(address)}`;
    case 'program':
      return address.url;
  }
}

/** `host:port`, with an IPv6 address in brackets. */
export function hostAndPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** An address as DOCKER_HOST gives it. @param tls used for `tcp`. */
export function parseAddress(
  text: string,
  tls: TlsFiles | undefined,
  { backend }: Pick<AddressOptions, 'backend'>,
): EngineAddress {
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/s.exec(text) ?? [];
  if ((scheme === 'unix' || scheme === 'npipe') && rest.startsWith('/'))
    return { kind: 'socket', path: rest };
  const web = text.replace(/^tcp:/, 'http:');
  const url = URL.canParse(web) ? new URL(web) : undefined;
  if (url !== undefined && url.hostname !== '') {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (scheme === 'tcp' || scheme === 'http' || scheme === 'https') {
      const secure = scheme === 'https' ? (tls ?? NO_FILES) : tls;
      const port = url.port === '' ? (secure ? TLS_PORT : PLAIN_PORT) : Number(url.port);
      return { kind: 'tcp', host, port, tls: secure };
    }
    if (scheme === 'ssh' && url.password === '')
      return { kind: 'program', url: text, argv: sshCommand(url, host) };
  }
  throw new SbxError('failed', `${JSON.stringify(text)} is no address of a Docker engine`, {
    backend,
    hint: 'unix:///var/run/docker.sock, tcp://host:2376 or ssh://user@host',
  });
}

const NO_FILES: TlsFiles = {
  folder: undefined,
  ca: undefined,
  cert: undefined,
  key: undefined,
  verify: true,
};

/** What the docker command runs for ssh:// (cli/connhelper). */
function sshCommand(url: URL, host: string): [string, ...string[]] {
  const user = url.username === '' ? [] : ['-l', decodeURIComponent(url.username)];
  const port = url.port === '' ? [] : ['-p', url.port];
  const socket = url.pathname.length > 1 ? ['--host', `unix://${url.pathname}`] : [];
  return [
    'ssh',
    ...['-o', 'ConnectTimeout=30', '-T'],
    ...user,
    ...port,
    ...['--', host, 'docker', ...socket, 'system', 'dial-stdio'],
  ];
}

/** The TLS files of `folder`, else of what the environment names; undefined where nothing asks for TLS. */
function tlsOf({ env }: AddressOptions, folder: string | undefined): TlsFiles | undefined {
  const verify = folder !== undefined || Boolean(env.DOCKER_TLS_VERIFY);
  if (!verify && !env.DOCKER_TLS) return undefined;
  return tlsFiles(folder ?? (env.DOCKER_CERT_PATH || configFolder(env)), verify);
}

/** The files that are in `folder`, under the names that docker gives them. */
export function tlsFiles(folder: string, verify: boolean): TlsFiles {
  const file = (name: string) => (existsSync(`${folder}/${name}`) ? `${folder}/${name}` : undefined);
  return { folder, ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem'), verify };
}

/** Docker's own folder of settings. */
export function configFolder(env: AddressOptions['env']): string {
  return env.DOCKER_CONFIG || `${env.HOME ?? ''}/.docker`;
}

function currentContext({ env, backend }: AddressOptions): string | undefined {
  const path = `${configFolder(env)}/config.json`;
  try {
    const config = JSON.parse(readFileSync(path, 'utf8')) as { currentContext?: unknown } | null;
    return typeof config?.currentContext === 'string' && config.currentContext !== ''
      ? config.currentContext
      : undefined;
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new SbxError('failed', `cannot read ${path}: ${cause instanceof Error ? cause.message : cause}`, {
      backend,
      hint: `name the engine: sbx config set backends.${backend}.host unix:///var/run/docker.sock`,
      cause,
    });
  }
}

/** The first of the usual sockets that is there: Docker's, rootless Docker's, Podman's; Docker's when none is. */
function usualSocket(env: AddressOptions['env']): string {
  const runtime = env.XDG_RUNTIME_DIR;
  const own = runtime ? [`${runtime}/docker.sock`, `${runtime}/podman/podman.sock`] : [];
  const usual = ['/var/run/docker.sock', ...own, '/run/podman/podman.sock'];
  return usual.find((path) => existsSync(path)) ?? '/var/run/docker.sock';
}
