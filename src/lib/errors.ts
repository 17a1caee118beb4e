/**
 * The one error type that sbx throws on purpose, and the one table from its codes to exit codes.
 * Knows nothing of commands or backends. Any other error that reaches the top is a bug of ours (exit 70).
 */

/** Every way in which sbx itself can fail, with the exit code and the words that stand for it. */
export const ERROR_TABLE = {
  failed: { exit: 1, title: 'failed' },
  conflict: { exit: 1, title: 'conflict' },
  timeout: { exit: 1, title: 'timed out' },
  usage: { exit: 2, title: 'usage' },
  not_found: { exit: 3, title: 'not found' },
  auth: { exit: 4, title: 'not authorised' },
  unsupported: { exit: 5, title: 'not supported here' },
  unreachable: { exit: 6, title: 'backend unreachable' },
  interrupted: { exit: 130, title: 'interrupted' },
  bug: { exit: 70, title: 'a bug in sbx' },
} as const;

/** A key of {@link ERROR_TABLE}. */
export type ErrorCode = keyof typeof ERROR_TABLE;

/** What an {@link SbxError} may carry besides its code and message. */
export interface SbxErrorDetails {
  /** One line that helps, with a command to copy where there is one. */
  readonly hint?: string | undefined;
  /** Whether the same call may succeed later. Default: only for `unreachable`. */
  readonly retryable?: boolean | undefined;
  /** The configured name of the backend that failed. */
  readonly backend?: string | undefined;
  readonly cause?: unknown;
}

/** An expected failure: what failed and why in `message`, what to do in `hint`. Never holds a secret. */
export class SbxError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly backend: string | undefined;

  constructor(code: ErrorCode, message: string, details: SbxErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SbxError';
    this.code = code;
    this.hint = details.hint;
    this.retryable = details.retryable ?? code === 'unreachable';
    this.backend = details.backend;
  }
}

/** The exit code of an error: the table's for an {@link SbxError}, 70 for anything else. */
export function exitCodeOf(error: unknown): number {
  return error instanceof SbxError ? ERROR_TABLE[error.code].exit : ERROR_TABLE.bug.exit;
}

/** Whether `error` is a system error with this `code`, such as `ENOENT`. */
export function hasErrno(error: unknown, ...codes: string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** What `check` complains about, as a line to show beside a question; undefined when it does not. */
export async function problemOf(check: () => unknown): Promise<string | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
  }
}
