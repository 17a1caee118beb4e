/** Tells a command's watcher that its client is still there: the server does not. guest/exec-text.sh. */
import { unhurried } from '../../../backend/unhurried.ts';
import { leaseOf } from './program.ts';
import { type PlainSandbox, pathOf, runProgram } from './shell.ts';

const RENEW_MS = 15_000;

/** Renews the lease of the command with `mark` until `end`. A paused sandbox is left alone: its watcher does not count. */
export function keepLease(sandbox: PlainSandbox, mark: string): { end(): void } {
  const renew = async () => {
    const { status } = await sandbox.api.json<{ readonly status?: string }>(
      { method: 'GET', path: pathOf(sandbox) },
      unhurried,
    );
    if (status === 'running') await runProgram(sandbox, leaseOf(mark), unhurried);
  };
  // One that fails is followed by the next; a server that is gone is told of by the command's own answer.
  const timer = setInterval(() => void renew().catch(() => undefined), RENEW_MS);
  timer.unref();
  return { end: () => clearInterval(timer) };
}
