/** Notices that the sandbox under a forward has gone. */
import type { Call, Sandbox, SandboxInfo } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';

/**
 * Looks at the sandbox every `intervalMs` until the call is aborted, which ends it without an error. A backend that
 * does not answer for a while is no reason to give up.
 * @throws SbxError `failed` once the sandbox is removed or has stopped.
 */
export async function watchSandbox(sandbox: Sandbox, intervalMs: number, call: Call): Promise<void> {
  while (!call.signal.aborted) {
    await refuseGone(sandbox, call);
    await pause(intervalMs, call.signal);
  }
}

/** @throws SbxError `failed` when the sandbox is removed or has stopped. */
export async function refuseGone(sandbox: Sandbox, call: Call): Promise<void> {
  let info: SandboxInfo;
  try {
    info = await sandbox.info(call);
  } catch (error) {
    if (call.signal.aborted || (error instanceof SbxError && error.retryable)) return;
    if (error instanceof SbxError && error.code === 'not_found') {
      throw new SbxError('failed', `sandbox '${sandbox.name}' was removed; its forwards are closed`, {
        hint: 'see what there is: sbx ls --all',
        cause: error,
      });
    }
    throw error;
  }
  if (info.state === 'stopped' || info.state === 'failed') {
    const why = info.reason === undefined ? '' : ` (${info.reason})`;
    throw new SbxError('failed', `sandbox '${sandbox.name}' ${info.state}${why}; its forwards are closed`, {
      hint: `sbx start ${sandbox.name}`,
    });
  }
}
