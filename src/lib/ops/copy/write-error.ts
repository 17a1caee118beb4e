/** Why this machine refused to write. */
import { hasErrno, SbxError } from '../../errors.ts';

/** Runs one system call on `path`; a failure says in words why. */
export function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw explain(path, cause);
  }
}

/** {@link attempt} for calls of another thread. */
export async function explained<T>(path: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    throw explain(path, cause);
  }
}

/** A system error in words; anything else as it is. */
export function explain(path: string, cause: unknown): unknown {
  if (cause instanceof SbxError || !(cause instanceof Error) || !('code' in cause)) return cause;
  const failed = (why: string, hint?: string) =>
    new SbxError('failed', `cannot write '${path}': ${why}`, { cause, hint });
  if (hasErrno(cause, 'ENOENT')) return new SbxError('not_found', `no such directory: '${path}'`, { cause });
  if (hasErrno(cause, 'ENOSPC', 'EDQUOT'))
    return failed('no space left', 'nothing was put in place; make room and copy again');
  if (hasErrno(cause, 'EACCES', 'EPERM')) return failed('permission denied');
  if (hasErrno(cause, 'EROFS')) return failed('the file system is read-only');
  if (hasErrno(cause, 'EEXIST', 'ENOTDIR', 'EISDIR'))
    return failed('a file and a directory have the same name');
  return failed(cause.message);
}
