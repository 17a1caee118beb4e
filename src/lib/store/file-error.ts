/** Turns what the file system says into an error that names the path and what to do. */
import { hasErrno, SbxError } from '../errors.ts';

const OTHER_FOLDER = 'choose another folder with SBX_CONFIG_DIR or SBX_STATE_DIR';

const REASONS: Readonly<Record<string, readonly [reason: string, hint: string | undefined]>> = {
  EACCES: ['permission denied', OTHER_FOLDER],
  EPERM: ['not permitted', OTHER_FOLDER],
  EROFS: ['the file system is read-only', OTHER_FOLDER],
  ENOSPC: ['no space left on the device', 'free some space: sbx prune --dry-run'],
  EDQUOT: ['the disk quota is used up', 'free some space: sbx prune --dry-run'],
  ENOENT: ['no such file or folder', undefined],
  ENOTDIR: ['a part of the path is not a folder', undefined],
  EISDIR: ['it is a folder', undefined],
  ELOOP: ['too many symbolic links', undefined],
  EMFILE: ['too many open files', 'raise the limit: ulimit -n'],
  ENFILE: ['too many open files', undefined],
};

/** An {@link SbxError} `failed` for a failed system call; `doing` reads like `cannot write`. An SbxError is handed back as it is. */
export function fileError(doing: string, path: string, error: unknown): SbxError {
  if (error instanceof SbxError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const [reason, hint] = (code !== undefined ? REASONS[code] : undefined) ?? [
    code ?? String(error),
    undefined,
  ];
  return new SbxError('failed', `${doing} ${path}: ${reason}`, {
    hint,
    retryable: hasErrno(error, 'ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'),
    cause: error,
  });
}
