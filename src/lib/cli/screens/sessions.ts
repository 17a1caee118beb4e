/** `sbx sessions` on a terminal. */
import type { Sandbox } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { followSession } from '../../ops/live/follow-session.ts';
import { watchSessions } from '../../ops/live/watch-sessions.ts';
import type { SessionsEffect, SessionsEvent } from '../../ui/tui/sessions-model.ts';
import type { Context } from '../context.ts';
import { type AttachSession, attached, loadScreens, messageOf, screenHost, told } from './run.ts';

/** Every look starts processes in the sandbox. */
const LOOK_MS = 2000;

/**
 * Shows them until the person quits.
 * @param attach what Enter does.
 * @returns the exit code, where it is not 0.
 * @throws SbxError `unsupported` where the backend has no sessions.
 */
export async function showSessions(
  context: Context,
  sandbox: Sandbox,
  attach: AttachSession,
): Promise<number | undefined> {
  const { having } = await context.backends();
  const sessions = need(sandbox, 'sessions', having);
  const runScreen = await loadScreens();
  const { sessionsScreen } = await import('../../ui/tui/sessions-screen.tsx');
  let exit: number | undefined;
  const watch = watchSessions(sessions, LOOK_MS);
  const host = screenHost(context);
  const call = { signal: context.signal };
  const { output } = host.terminal;

  async function change(effect: Exclude<SessionsEffect, { kind: 'quit' | 'attach' }>): Promise<string> {
    switch (effect.kind) {
      case 'create': {
        const size = { cols: output.columns || 80, rows: output.rows || 24 };
        await sessions.create({ name: effect.name, size, term: context.env.TERM }, call);
        return `session '${effect.name}' runs`;
      }
      case 'rename':
        await sessions.rename(effect.name, effect.to, call);
        return `session '${effect.name}' is now '${effect.to}'`;
      case 'kill':
        await sessions.kill(effect.name, call);
        return `session '${effect.name}' has been ended`;
    }
  }

  await runScreen<ReturnType<typeof sessionsScreen>['initial'], SessionsEvent, SessionsEffect, Target>({
    ...host,
    screen: sessionsScreen(sandbox.name),
    feed: (send, signal) => watch.run(send, { signal }),
    async perform(effect, { send, quit, suspend }) {
      if (effect.kind === 'quit') return quit();
      if (effect.kind === 'attach') {
        await told(
          () =>
            attached(
              suspend,
              () => attach(sandbox, effect.name),
              (code) => {
                exit = code;
              },
            ),
          (notice) => send({ type: 'done', notice, choose: effect.name }),
        );
        return;
      }
      if (effect.kind === 'kill')
        send({ type: 'done', notice: { text: `ending session '${effect.name}'…`, failed: false } });
      const choose =
        effect.kind === 'create' ? effect.name : effect.kind === 'rename' ? effect.to : undefined;
      let notice: Extract<SessionsEvent, { type: 'done' }>['notice'];
      const went = await told(
        () => change(effect),
        (told) => {
          notice = told;
        },
      );
      send({ type: 'done', notice, ...(went ? { choose } : {}) });
      watch.hurry();
    },
    preview: {
      follow: (target, sink, signal) => followSession(sessions, target, sink, { signal }),
      place: ({ name, state, size }) => ({ key: `${state} ${name}`, size }),
      explain: messageOf,
    },
  });
  return exit;
}

type Target = import('../../ui/tui/sessions-screen.tsx').SessionTarget;
