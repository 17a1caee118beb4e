/** What Enter does on a screen: the same as `sbx shell`. */
import { need } from '../../backend/need.ts';
import { attachSession } from '../../ops/shell.ts';
import type { Context } from '../context.ts';
import { type SessionFlagValues, sessionFlags, sessionRequest, tellOutcome } from '../session-flags.ts';
import type { AttachSession } from './run.ts';

/** Flags of the verbs whose screens attach. */
export const attachFlags = {
  'detach-keys': sessionFlags['detach-keys'],
  'reconnect-for': sessionFlags['reconnect-for'],
};

/**
 * Attaches as the flags say.
 * @param create whether a session that is not there is made.
 */
export function attacher(
  context: Context,
  flags: Pick<SessionFlagValues, keyof typeof attachFlags>,
  create: boolean,
): AttachSession {
  const all = { 'read-only': false, 'take-over': false, 'no-replay': false, ...flags };
  const request = { ...sessionRequest(all, context), command: undefined, create };
  return async (sandbox, session) => {
    const sessions = need(sandbox, 'sessions', (await context.backends()).having);
    const outcome = await attachSession(sandbox, sessions, { ...request, session }, context);
    const exit = tellOutcome(outcome, sandbox, session, context, false);
    return outcome.how === 'interrupted' || outcome.how === 'terminal gone' ? exit : undefined;
  };
}
