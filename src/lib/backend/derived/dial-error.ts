/** Turns what the system says about a connection into errors of sbx. */
import { hasErrno, SbxError } from '../../errors.ts';
import type { DialTarget } from '../contract.ts';

/** Why a port inside could not be reached; aborting stays `interrupted`. */
export function dialError(target: DialTarget, cause: unknown, signal?: AbortSignal): SbxError {
  if (signal?.aborted)
    return new SbxError('interrupted', `dialing port ${target.port} was interrupted`, { cause });
  if (cause instanceof SbxError) return cause;
  const where = target.host === undefined ? `port ${target.port}` : `${target.host} port ${target.port}`;
  if (hasErrno(cause, 'ECONNREFUSED')) {
    return new SbxError('unreachable', `nothing listens on ${where} in the sandbox`, {
      hint: 'see what does: sbx ports',
      cause,
    });
  }
  return new SbxError('unreachable', `cannot reach ${where} in the sandbox: ${reason(cause)}`, { cause });
}

/** Why a port inside could not be listened on. */
export function listenError(target: DialTarget, cause: unknown, signal?: AbortSignal): SbxError {
  if (signal?.aborted)
    return new SbxError('interrupted', `listening on port ${target.port} was interrupted`, { cause });
  if (cause instanceof SbxError) return cause;
  if (hasErrno(cause, 'EADDRINUSE')) {
    return new SbxError('conflict', `port ${target.port} in the sandbox is in use`, {
      hint: 'see by what: sbx ports',
      cause,
    });
  }
  return new SbxError('failed', `cannot listen on port ${target.port} in the sandbox: ${reason(cause)}`, {
    cause,
  });
}

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
