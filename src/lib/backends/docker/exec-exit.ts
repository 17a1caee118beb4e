/** How a command ended, from the one number that the engine tells. */
import type { Exit } from '../../backend/contract.ts';
import { SIGNAL_NUMBERS } from '../../backend/signal-numbers.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected, InspectedExec } from './api.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';
import { unhurried } from './unhurried.ts';

const KILLED = 128 + SIGNAL_NUMBERS.KILL;

/**
 * The exit that `ended` stands for. The engine tells 128 + n both for a signal and for an exit code; a signal is told
 * only where it was sent from here.
 * @param since when the command was started, in epoch milliseconds.
 * @throws SbxError `failed` when the sandbox went away under the command.
 */
export async function exitOf(
  box: Box,
  ended: InspectedExec | undefined,
  sent: ReadonlySet<string>,
  since: number,
): Promise<Exit> {
  const code = ended?.ExitCode ?? undefined;
  if (code === undefined) throw gone(box);
  const signal = Object.entries(SIGNAL_NUMBERS).find(
    ([name, number]) => code === 128 + number && sent.has(name),
  );
  if (signal !== undefined) return { signal: signal[0] };
  if (code !== KILLED) return { code };
  return (await whyKilled(box, since)) === 'memory' ? { signal: 'KILL' } : { code };
}

/** How long the engine may take to notice what it was that killed a command, in milliseconds. */
const NOTICE_MS = 300;

async function whyKilled(box: Box, since: number): Promise<'memory' | undefined> {
  const outOfMemory = await ranOutOfMemory(box, since);
  if ((await containerState(box))?.Running !== true) throw gone(box);
  if (!outOfMemory) return undefined;
  box.docker.notice(`a command was killed: sandbox '${box.name}' ran out of memory`);
  return 'memory';
}

/**
 * Docker Engine API, "SystemEvents": first what was, then what comes. The state of a container that goes on does not tell
 * whether a command of it ran out of memory.
 */
async function ranOutOfMemory(box: Box, since: number): Promise<boolean> {
  const filters = JSON.stringify({ container: [box.container], event: ['oom'] });
  const query = { since: (since / 1000).toFixed(3), filters };
  const what = `see what happened to sandbox '${box.name}'`;
  const { body } = await box.docker.engine.send({ method: 'GET', path: '/events', query, what }, unhurried);
  return new Promise((resolve) => {
    const finish = (found: boolean) => {
      clearTimeout(timer);
      body.destroy();
      resolve(found);
    };
    const timer = setTimeout(() => finish(false), NOTICE_MS);
    body.once('data', () => finish(true));
    for (const event of ['error', 'close']) body.once(event, () => finish(false));
  });
}

async function containerState(box: Box): Promise<Inspected['State'] | undefined> {
  const { engine } = box.docker;
  try {
    const path = `/containers/${segment(box.container)}/json`;
    const what = `look at sandbox '${box.name}'`;
    return ((await engine.json({ method: 'GET', path, what }, unhurried)) as Inspected).State;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function gone(box: Box): SbxError {
  return new SbxError('failed', `sandbox '${box.name}' was stopped or removed while the command ran`, {
    backend: box.docker.name,
    hint: 'sbx ls --all',
  });
}
