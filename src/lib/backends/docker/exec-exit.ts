/** How a command ended, from the one number that the engine tells. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Exit } from '../../backend/contract.ts';
import { SIGNAL_NUMBERS } from '../../backend/signal-numbers.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import type { EngineEvent, Inspected, InspectedExec } from './api.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';

const KILLED = 128 + SIGNAL_NUMBERS.KILL;
/** What gVisor's runtime ends with when its sandbox breaks under a command. */
const BROKEN = 128;

/**
 * The exit that `ended` stands for. The engine tells 128 + n both for a signal and for an exit code; a signal is told
 * only where it was sent from here.
 * @param since when the command was started, in epoch milliseconds.
 * @throws SbxError `failed` when the sandbox ended or went away under the command.
 */
export async function exitOf(
  box: Box,
  ended: InspectedExec | undefined,
  sent: ReadonlySet<string>,
  since: number,
): Promise<Exit> {
  const code = ended?.ExitCode ?? undefined;
  if (code === undefined) throw gone(box, await containerState(box), await whatHappened(box, since));
  const signal = Object.entries(SIGNAL_NUMBERS).find(
    ([name, number]) => code === 128 + number && sent.has(name),
  );
  if (signal !== undefined) return { signal: signal[0] };
  if (code !== KILLED && code !== BROKEN) return { code };
  const event = await whatHappened(box, since);
  const state = await containerState(box);
  // The engine tells the end of a container a little later than that of its commands.
  const ends = event === 'kill' || event === 'die' || (event === 'oom' && code === BROKEN);
  if (ends || state?.Running !== true) throw gone(box, state, event);
  if (event === undefined) return { code };
  box.docker.notice(`a command was killed: sandbox '${box.name}' ran out of memory`);
  return { signal: 'KILL' };
}

/** How long the engine may take to notice what it was that killed a command, in milliseconds. */
const NOTICE_MS = 300;

type Event = 'oom' | 'kill' | 'die';

/**
 * The first thing that befell the container. Docker Engine API, "SystemEvents": first what was, then what comes. The state of a
 * container that goes on does not tell whether a command of it ran out of memory.
 */
async function whatHappened(box: Box, since: number): Promise<Event | undefined> {
  const filters = JSON.stringify({ container: [box.container], event: ['oom', 'kill', 'die'] });
  const query = { since: (since / 1000).toFixed(3), filters };
  const what = `see what happened to sandbox '${box.name}'`;
  const { body } = await box.docker.engine.send({ method: 'GET', path: '/events', query, what }, unhurried);
  return new Promise((resolve) => {
    const finish = (event: Event | undefined) => {
      clearTimeout(timer);
      body.destroy();
      resolve(event);
    };
    const timer = setTimeout(() => finish(undefined), NOTICE_MS);
    let text = '';
    body.on('data', (part: Buffer) => {
      text += part.toString('utf8');
      const event = firstOf(text);
      if (event !== undefined) finish(event);
    });
    for (const event of ['error', 'close']) body.once(event, () => finish(undefined));
  });
}

/** Events come as an object a line. */
function firstOf(text: string): Event | undefined {
  for (const line of text.split('\n').slice(0, -1)) {
    const { Action, Actor } = JSON.parse(line) as EngineEvent;
    if (Action === 'oom') return 'oom';
    if (Action !== 'kill') return 'die';
    if (Actor?.Attributes?.signal === String(SIGNAL_NUMBERS.KILL)) return 'kill';
  }
  return undefined;
}

/** How often, and how far apart, the engine is asked for the end of a container. */
const LAST_LOOKS = 20;
const LOOK_MS = 100;

/**
 * Why nobody told how a command ended: the sandbox went away under it, which the engine may notice late, or what watched it was killed.
 * @param since when the command was started, in epoch milliseconds.
 */
export async function whyUntold(box: Box, since: number): Promise<SbxError> {
  for (let looks = 1; ; looks++) {
    const state = await containerState(box);
    if (state?.Running !== true) return gone(box, state, await whatHappened(box, since));
    if (looks === LAST_LOOKS) {
      const what = `what watched over the command in sandbox '${box.name}' was killed; nobody knows how it ended`;
      return new SbxError('failed', what, { backend: box.docker.name, hint: `sbx exec ${box.name} -- ps` });
    }
    await pause(LOOK_MS);
  }
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

/** @param state undefined for a container that is no more. One of gVisor ends as a whole where memory runs out. */
function gone(
  { name, docker }: Box,
  state: Inspected['State'] | undefined,
  event: Event | undefined,
): SbxError {
  const what = state === undefined ? 'was removed' : event === 'oom' ? 'ran out of memory' : 'was stopped';
  return new SbxError('failed', `sandbox '${name}' ${what} while the command ran`, {
    backend: docker.name,
    hint: state === undefined ? 'see what there is: sbx ls --all' : `start it: sbx start ${name}`,
  });
}
