/** What an engine refuses or fails to do, as errors of sbx: by the status of its answer and the class of a broken connection. */
import { type ErrorCode, hasErrno, SbxError } from '../../errors.ts';
import { addressText, type EngineAddress } from './address.ts';
import { type TlsFailure, tlsFailure } from './tls-errors.ts';

/** Longest message of an engine that is shown. */
const MESSAGE_LIMIT = 600;
/** The exit code of a shell that finds no such command, which ssh passes on. */
const NO_COMMAND = 127;
/** What the C library calls ENOSPC: an engine has no status for it, and this is for a hint alone. */
const DISK_FULL = /no space left on device/i;

/** Docker Engine API, "Errors": the standard statuses, and a message in JSON. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'failed',
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  409: 'conflict',
  501: 'unsupported',
  503: 'unreachable',
};

/** What an answer with `status` means. */
export function codeOf(status: number | undefined): ErrorCode {
  return CODES[status ?? 500] ?? 'failed';
}

/** The error for an answer with `status`. @param what what was tried, as in `cannot WHAT`. */
export function refused(status: number, body: string, what: string, backend: string): SbxError {
  const message = messageOf(body, status);
  const hint = DISK_FULL.test(message)
    ? 'make room on the disk of the engine: sbx prune; see what fills it: docker system df'
    : undefined;
  return new SbxError(codeOf(status), `cannot ${what}: ${message}`, { backend, hint });
}

/** The engine's own words: `{message}`, and in Podman's service also `cause`. */
export function messageOf(body: string, status: number): string {
  let message: unknown;
  try {
    message = (JSON.parse(body) as { message?: unknown } | null)?.message;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    message = body;
  }
  const text = typeof message === 'string' ? message.trim().slice(0, MESSAGE_LIMIT) : '';
  return text === '' ? `the engine answered with status ${status}` : text;
}

/** The error for a connection that could not be made, or broke. Errors of sbx pass. */
export function broken(error: unknown, address: EngineAddress, backend: string, signal?: AbortSignal): Error {
  if (signal?.aborted) return new SbxError('interrupted', 'interrupted', { cause: error });
  if (error instanceof SbxError) return error;
  const where = addressText(address);
  const unreachable = (why: string, hint: string, retryable = true) =>
    new SbxError('unreachable', `cannot reach the Docker engine at ${where}: ${why}`, {
      ...{ backend, hint, retryable, cause: error },
    });
  const another = `is it elsewhere? sbx config set backends.${backend}.host ADDRESS`;
  const start = `start it: sudo systemctl start docker; ${another}`;
  if (hasErrno(error, 'ENOENT')) return unreachable('there is no such socket', start);
  if (hasErrno(error, 'EACCES', 'EPERM'))
    return unreachable(
      'this user may not use the socket',
      'join its group: sudo usermod -aG docker "$USER", then log in again',
      false,
    );
  if (hasErrno(error, 'ECONNREFUSED')) return unreachable('nothing listens there', start);
  if (hasErrno(error, 'ENOTFOUND', 'EAI_AGAIN')) return unreachable('there is no such host', another);
  if (hasErrno(error, 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'))
    return unreachable('it does not answer', another);
  if (hasErrno(error, 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_DESTROYED'))
    return unreachable('the connection broke', 'see whether it runs: sbx backend check');
  const why = error instanceof Error ? error.message : String(error);
  if (address.kind === 'program') return unreachable(why, programHint(address.argv, error));
  if (address.kind === 'tcp' && address.tls !== undefined && error instanceof Error) {
    const failure = tlsFailure(error, address.tls, backend);
    if (failure !== undefined) return notSecured(failure, where, backend, error);
  }
  return unreachable(why, another);
}

function notSecured(
  { code, why, hint }: TlsFailure,
  where: string,
  backend: string,
  cause: unknown,
): SbxError {
  const message = `cannot reach the Docker engine at ${where}: ${why}`;
  return new SbxError(code, message, { backend, hint, retryable: false, cause });
}

/** What to try by hand: the words that were used, without `system dial-stdio`. */
function programHint(argv: readonly string[], error: unknown): string {
  const docker = argv.slice(0, -2).join(' ');
  return error instanceof Error && 'exitCode' in error && error.exitCode === NO_COMMAND
    ? `install the docker command there, and see whether this finds it: ${docker} --version`
    : `see whether this works: ${docker} version`;
}
