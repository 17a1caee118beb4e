/** Ends forwards in the background. */
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';
import { processIdentity } from './process-identity.ts';
import { type BackgroundForward, checkForwardId, readForward, removeRecord } from './records.ts';

/** How long one may take to end before it is killed. */
const GRACE_MS = 5000;

/**
 * Ends a forward and forgets it. One whose process is gone already is only forgotten: its number may be another's by now.
 * @returns what it was. @throws SbxError `not_found`
 */
export async function stopForward(state: string, id: string, call: Call): Promise<BackgroundForward> {
  const forward = await readForward(state, checkForwardId(id));
  if (forward === undefined) {
    throw new SbxError('not_found', `there is no forward ${id} in the background`, {
      hint: 'see them: sbx forward ls',
    });
  }
  if (forward.state === 'running') await endProcess(forward, call);
  await removeRecord(state, id);
  return forward;
}

async function endProcess({ id, pid, identity }: BackgroundForward, call: Call): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    send(id, pid, signal);
    const end = performance.now() + GRACE_MS;
    while (performance.now() < end) {
      if ((await processIdentity(pid)) !== identity) return;
      call.signal.throwIfAborted();
      await pause(10, call.signal);
    }
  }
  throw new SbxError('failed', `forward ${id} does not end (process ${pid})`);
}

function send(id: string, pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (hasErrno(error, 'ESRCH')) return;
    throw new SbxError('failed', `cannot stop forward ${id}: ${(error as Error).message}`, { cause: error });
  }
}
