/** Starting, stopping, pausing. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import { type Box, notRunning } from './box.ts';
import { segment } from './engine.ts';
import { startMain } from './main-command.ts';
import { renewPipes } from './pipes.ts';
import { inspectBox } from './snapshots.ts';

type Action = 'start' | 'stop' | 'pause' | 'unpause' | 'kill' | 'wait';

/** `start` of the contract. */
export async function start(box: Box, sandbox: Sandbox, call: Call): Promise<void> {
  const found = await inspectBox(box, call);
  if (found.State.Running === true) return;
  await renewPipes(box.docker, box.id, found);
  await act(box, 'start', call);
  const command = box.facts?.command;
  if (command !== undefined && !box.isBare) await startMain(sandbox, command, call);
}

/** `stop` of the contract. Process 1 passes TERM on to everybody. */
export async function stop(box: Box, graceMs: number, call: Call): Promise<void> {
  const { Running, Paused } = await stateOf(box, call);
  if (Running !== true) return;
  // What is frozen cannot end.
  if (Paused === true) await act(box, 'unpause', call);
  try {
    if (graceMs > 0) await act(box, 'stop', call, { t: Math.ceil(graceMs / 1000) });
    else await kill(box, call);
  } catch (error) {
    if (!(error instanceof SbxError) || (error.code !== 'conflict' && error.code !== 'failed')) throw error;
    // Unless it ended by itself meanwhile.
    if ((await stateOf(box, call)).Running === true) throw error;
  }
}

/** Ends everything at once, and resolves when it has. */
export async function kill(box: Box, call: Call): Promise<void> {
  await act(box, 'kill', call, { signal: 'KILL' });
  await act(box, 'wait', call, { condition: 'not-running' });
}

/** `pause` of the contract. */
export async function pause(box: Box, call: Call): Promise<void> {
  const { Running, Paused, Status } = await stateOf(box, call);
  if (Paused === true) return;
  if (Running !== true) throw notRunning(box, Status ?? '');
  await act(box, 'pause', call);
  box.isPaused = true;
}

/** `resume` of the contract. */
export async function resume(box: Box, call: Call): Promise<void> {
  const { Running, Paused, Status } = await stateOf(box, call);
  box.isPaused = false;
  if (Running === true && Paused !== true) return;
  if (Running !== true) throw notRunning(box, Status ?? '');
  await act(box, 'unpause', call);
}

/** The state of the container; `not_found` when it is gone. */
export async function stateOf(box: Box, call: Call): Promise<Inspected['State']> {
  return (await inspectBox(box, call)).State;
}

async function act(
  box: Box,
  action: Action,
  call: Call,
  query: Readonly<Record<string, string | number>> = {},
): Promise<void> {
  const path = `/containers/${segment(box.container)}/${action}`;
  // Not given up half-way: what has begun goes on in the engine.
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  await box.docker.engine.json(
    { method: 'POST', path, query, what: `${action} sandbox '${box.name}'` },
    unhurried,
  );
}
