/** Which git repository `--repo` means. Pure: looks at nothing but the text. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SbxError } from '../errors.ts';

/** A repository that the sandbox fetches by itself. */
export interface RemoteRepo {
  readonly kind: 'remote';
  /** Without any user name or password of an HTTP URL: this one may be shown and is what `origin` becomes. */
  readonly url: string;
  readonly ref: string | undefined;
  /** Empty where there are none. */
  readonly username: string;
  readonly password: string;
}

/** A repository on this machine. */
export interface LocalRepo {
  readonly kind: 'local';
  /** As it was given; what `origin` becomes. */
  readonly url: string;
  readonly path: string;
  readonly ref: string | undefined;
}

export type RepoSource = RemoteRepo | LocalRepo;

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/** `user@host:path`: a colon before any slash, as git reads it. */
const SCP_LIKE = /^[^/:]+:(?!:|\/\/)/;
const REMOTE_SCHEMES = ['http', 'https', 'ssh', 'git'];
const REF = /^(?![-/.])(?!.*\.\.)[^\x00-\x20\x7f~^:?*[\\]+$/;

/** Reads `URL[#REF]`, where URL is anything git clones or a path from `cwd`. Errors never repeat a password. @throws SbxError `usage` */
export function parseRepo(text: string, cwd: string): RepoSource {
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  const remote = scheme === undefined ? SCP_LIKE.test(text) : scheme !== 'file';
  const at = remote ? text.indexOf('#') : text.lastIndexOf('#');
  const url = at < 0 ? text : text.slice(0, at);
  const ref = at < 0 ? undefined : text.slice(at + 1);
  if (ref !== undefined && !REF.test(ref)) {
    throw new SbxError('usage', '--repo: what follows # is no branch, tag or commit', {
      hint: 'write --repo URL#main',
    });
  }
  if (url === '' || url.startsWith('-') || /[\p{Cc}]/u.test(url))
    throw new SbxError('usage', '--repo is no URL and no path');
  if (!remote)
    return { kind: 'local', url, path: scheme === 'file' ? filePath(url) : resolve(cwd, url), ref };
  if (scheme === undefined) return { kind: 'remote', url, ref, username: '', password: '' };
  if (!REMOTE_SCHEMES.includes(scheme)) {
    throw new SbxError('usage', `--repo cannot use ${scheme}://`, {
      hint: `it can be a path, file://, ${REMOTE_SCHEMES.map((each) => `${each}://`).join(', ')}`,
    });
  }
  return { kind: 'remote', ref, ...withoutSecrets(url, scheme) };
}

function withoutSecrets(url: string, scheme: string): Pick<RemoteRepo, 'url' | 'username' | 'password'> {
  const [, head = '', userinfo = '', rest = ''] =
    /^([a-z0-9+.-]+:\/\/)(?:([^/?#]*)@)?(.*)$/is.exec(url) ?? [];
  const colon = userinfo.indexOf(':');
  const user = colon < 0 ? userinfo : userinfo.slice(0, colon);
  const password = colon < 0 ? '' : userinfo.slice(colon + 1);
  if (scheme !== 'http' && scheme !== 'https') {
    // The user of an ssh URL is part of the address; ssh takes no password from it.
    return { url: user === '' ? head + rest : `${head}${user}@${rest}`, username: '', password: '' };
  }
  return { url: head + rest, username: decode(user), password: decode(password) };
}

function decode(text: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch (cause) {
    throw new SbxError('usage', '--repo: the user name or password in the URL is not percent-encoded well', {
      cause,
    });
  }
  if (/[\r\n\0]/.test(decoded))
    throw new SbxError('usage', '--repo: the user name or password in the URL holds a line break');
  return decoded;
}

function filePath(url: string): string {
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new SbxError('usage', `--repo ${JSON.stringify(url)} is no file URL of this machine`, { cause });
  }
}
