/** `sbx top` on a terminal. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { followSession } from '../../ops/live/follow-session.ts';
import {
  askFleet,
  type FleetAsker,
  type FleetEvent,
  fleetKey,
  type WatchOptions,
  watchLists,
} from '../../ops/live/watch-fleet.ts';
import { MAIN_SESSION } from '../../ops/shell.ts';
import type { Context } from '../context.ts';
import { type AttachSession, attached, loadScreens, messageOf, screenHost, told } from './run.ts';

/**
 * Shows all sandboxes until the person quits.
 * @param attach what Enter does.
 * @returns the exit code, where it is not 0.
 */
export async function showTop(
  context: Context,
  options: WatchOptions & { readonly intervalMs: number },
  attach: AttachSession,
): Promise<number | undefined> {
  const backends = await context.backends();
  const runScreen = await loadScreens();
  const { topScreen } = await import('../../ui/tui/top-screen.tsx');
  const { chosenBox } = await import('../../ui/tui/top-model.ts');
  let exit: number | undefined;
  let chosen: string | undefined;
  let asker: FleetAsker | undefined;
  const open = async (info: { backend: string; id: string }, call: Call): Promise<Sandbox> =>
    (await backends.get(info.backend)).get(info.id, call);

  await runScreen({
    ...screenHost(context),
    screen: topScreen,
    onState(state) {
      const key = chosenBox(state)?.key;
      if (key === chosen) return;
      chosen = key;
      if (key !== undefined) asker?.hurry(key);
    },
    async feed(send, signal) {
      const call = { signal };
      const own = askFleet(
        backends,
        { chosen: () => chosen, look: true, intervalMs: options.intervalMs, pace: options.pace },
        send,
        call,
      );
      asker = own;
      const running = runningOf((sandboxes) => own.set(sandboxes));
      const tell = (event: FleetEvent) => {
        running(event);
        send(event);
      };
      await Promise.all([watchLists(backends, options, tell, call), own.done]);
    },
    async perform(effect, { send, quit, suspend }) {
      if (effect.kind === 'quit') return quit();
      const { box, session = MAIN_SESSION } = effect;
      const enter = async () => attach(await open(box.info, { signal: context.signal }), session);
      await told(
        () =>
          attached(suspend, enter, (code) => {
            exit = code;
          }),
        (notice) => send({ type: 'done', notice }),
      );
    },
    preview: {
      async follow({ box, session }, sink, signal) {
        const sandbox = await open(box.info, { signal });
        await followSession(need(sandbox, 'sessions', backends.having), session, sink, { signal });
      },
      place: ({ box, session }) => ({ key: `${box.key} ${session.name}`, size: session.size }),
      explain: messageOf,
    },
  });
  return exit;
}

/** Keeps which sandboxes run, by what the backends list. One whose backend fails stays: it may answer all the same. */
export function runningOf(
  changed: (sandboxes: ReadonlyMap<string, { readonly backend: string; readonly id: string }>) => void,
): (event: FleetEvent) => void {
  const lists = new Map<string, Map<string, { backend: string; id: string }>>();
  return (event) => {
    if (event.type !== 'listed') return;
    const running = event.sandboxes.filter(({ state }) => state === 'running');
    lists.set(event.backend, new Map(running.map((info) => [fleetKey(info), info])));
    changed(new Map([...lists.values()].flatMap((list) => [...list])));
  };
}
