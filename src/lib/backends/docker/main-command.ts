/** The main command of a sandbox: a process called `main`, started anew whenever the sandbox starts. */
import type { Argv, Call, Sandbox } from '../../backend/contract.ts';

/** Starts it; it may end at once. */
export async function startMain(sandbox: Sandbox, argv: Argv, call: Call): Promise<void> {
  await sandbox.can.processes?.start({ argv, name: 'main' }, call);
}
