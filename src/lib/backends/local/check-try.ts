/** Trying a program for a check, and the results of checks. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Call, CheckResult } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { SYSTEM_ENV } from './system.ts';

const run = promisify(execFile);
const TRY_LIMIT_MS = 15_000;

/** Root of its own, with mounts of its own. */
export const UNSHARE = ['unshare', '--user', '--map-root-user', '--mount'];

/** Runs a program; what went wrong in one line, undefined when nothing did. */
export async function attempt(
  [file = '', ...args]: readonly string[],
  cwd: string,
  call: Call,
): Promise<string | undefined> {
  try {
    await run(file, args, {
      cwd,
      env: SYSTEM_ENV,
      timeout: TRY_LIMIT_MS,
      killSignal: 'SIGKILL',
      signal: call.signal,
    });
    return undefined;
  } catch (error) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted', { cause: error });
    const { stderr, message } = error as Error & { readonly stderr?: string };
    return (stderr?.trim() || message).split('\n')[0] ?? '';
  }
}

/** A check that went well. */
export function ok(name: string, detail: string): CheckResult {
  return { name, status: 'ok', detail };
}

/** Something that is not there, with what to do. */
export function warning(name: string, detail: string, hint: string): CheckResult {
  return { name, status: 'warning', detail, hint };
}

/** Something without which no sandbox can be made, with what to do. */
export function failed(name: string, detail: string, hint: string): CheckResult {
  return { name, status: 'failed', detail, hint };
}
