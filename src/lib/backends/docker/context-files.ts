/** Docker's contexts as the docker command stores them: contexts/meta/SHA256/meta.json, keys in contexts/tls/SHA256/docker. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { hasErrno, SbxError } from '../../errors.ts';
import { type TlsFiles, tlsFiles } from './address.ts';

export interface DockerContext {
  readonly host: string;
  readonly tls: TlsFiles | undefined;
}

/** The engine of context `name`. `not_found` when there is no such context. */
export async function readContext(config: string, name: string, backend: string): Promise<DockerContext> {
  const digest = createHash('sha256').update(name).digest('hex');
  const path = `${config}/contexts/meta/${digest}/meta.json`;
  const endpoint = readEndpoint(path, name, backend);
  const keys = `${config}/contexts/tls/${digest}/docker`;
  const isTrusted = endpoint.SkipTLSVerify === true;
  const tls = existsSync(keys) || isTrusted ? tlsFiles(keys, !isTrusted) : undefined;
  return { host: endpoint.Host, tls };
}

function readEndpoint(
  path: string,
  name: string,
  backend: string,
): { readonly Host: string; readonly SkipTLSVerify?: unknown } {
  const hint = 'see what there is: docker context ls';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const missing = hasErrno(cause, 'ENOENT', 'ENOTDIR');
    const why = missing ? `there is no docker context '${name}'` : `cannot read ${path}`;
    throw new SbxError(missing ? 'not_found' : 'failed', why, { backend, hint, cause });
  }
  try {
    const { Endpoints } = JSON.parse(text) as { Endpoints?: { docker?: { Host?: unknown } } };
    const docker = Endpoints?.docker;
    if (docker !== undefined && typeof docker.Host === 'string') return { ...docker, Host: docker.Host };
  } catch (cause) {
    throw new SbxError('failed', `${path} is broken`, { backend, hint, cause });
  }
  throw new SbxError('failed', `the docker context '${name}' names no engine (${path})`, { backend, hint });
}
