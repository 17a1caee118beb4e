/** What the exit codes of the file and tar programs mean. The programs test for the reason; their words are not read. */
import { SbxError } from '../errors.ts';

/** Exit codes of the programs, by what they found. */
export const FILE_EXIT = {
  noTar: 40,
  notFound: 41,
  isDirectory: 42,
  notDirectory: 43,
  denied: 44,
  noSpace: 45,
  exists: 46,
  conflict: 47,
  notRegular: 48,
  noStat: 50,
} as const;

/** What went wrong and where. */
export interface FileFailure {
  readonly sandbox: string;
  /** The path that was asked for. */
  readonly path: string;
  /** What was tried, such as `read`. */
  readonly verb: string;
  readonly code: number | undefined;
  readonly signal?: string | undefined;
  /** What the program said; hostile, so one line of it at most. */
  readonly stderr: string;
}

/** The error of a file or tar program that did not exit 0. */
export function fileError(failure: FileFailure): SbxError {
  const { sandbox, path, verb, code } = failure;
  const at = `'${path}' in sandbox '${sandbox}'`;
  const failed = (why: string, hint?: string) =>
    new SbxError('failed', `cannot ${verb} ${at}: ${why}`, { hint });
  switch (code) {
    case FILE_EXIT.noTar:
      return new SbxError('unsupported', `cannot ${verb} ${at}: the sandbox has no tar`, {
        hint: `install it there (sbx exec ${sandbox} -- apk add tar), or move single files: sbx files cat ${sandbox} PATH`,
      });
    case FILE_EXIT.noStat:
      return new SbxError('unsupported', `cannot ${verb} ${at}: the sandbox has no stat or find that works`, {
        hint: 'use an image with coreutils or busybox',
      });
    case FILE_EXIT.notFound:
      return new SbxError('not_found', `no such file or directory: ${at}`);
    case FILE_EXIT.isDirectory:
      return failed(
        'it is a directory',
        verb === 'remove' ? 'remove all that it holds too: --recursive' : undefined,
      );
    case FILE_EXIT.notDirectory:
      return failed('it is not a directory');
    case FILE_EXIT.denied:
      return failed('permission denied, or the file system is read-only');
    case FILE_EXIT.noSpace:
      return failed(
        'no space left on device',
        `make room: sbx exec ${sandbox} -- df -h shows where, sbx prune --dry-run what may go`,
      );
    case FILE_EXIT.exists:
      return new SbxError('conflict', `cannot ${verb} ${at}: it exists already`);
    case FILE_EXIT.conflict:
      return new SbxError(
        'conflict',
        `cannot ${verb} ${at}: '${lastLine(failure.stderr)}' is a directory on one side only`,
        {
          hint: 'nothing was written',
        },
      );
    case FILE_EXIT.notRegular:
      return failed('it is not a regular file');
    case 127:
      return new SbxError(
        'unsupported',
        `cannot ${verb} ${at}: the sandbox has no shell or lacks a basic command`,
        {
          hint: 'use an image with a POSIX shell and coreutils or busybox',
        },
      );
    default:
      return failed(lastLine(failure.stderr) || ended(failure));
  }
}

function ended(failure: FileFailure): string {
  return failure.signal === undefined
    ? `exit code ${failure.code ?? 'unknown'}`
    : `ended by ${failure.signal}`;
}

function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').slice(0, 300);
}
