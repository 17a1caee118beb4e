/** The sessions of a sandbox as they change. */
import type { Call, SessionInfo, Sessions } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';

/** What a look at them gave. */
export type SessionsNews =
  | { readonly type: 'listed'; readonly sessions: readonly SessionInfo[] }
  | { readonly type: 'unlisted'; readonly message: string };

/** Sessions that are looked at again and again. */
export interface SessionsWatch {
  /** Looks until the call is given up, which is no error. A failure is news, and the next look may do better. */
  run(tell: (news: SessionsNews) => void, call: Call): Promise<void>;
  /** Looks now rather than when it is time. */
  hurry(): void;
}

/** @param intervalMs milliseconds from one look to the next. */
export function watchSessions(sessions: Sessions, intervalMs: number): SessionsWatch {
  let wake = new AbortController();
  return {
    hurry: () => wake.abort(),
    async run(tell, call) {
      let last: string | undefined;
      while (!call.signal.aborted) {
        wake = new AbortController();
        const news = await look(sessions, call);
        if (call.signal.aborted) return;
        const now = JSON.stringify(news);
        if (now !== last) tell(news);
        last = now;
        await pause(intervalMs, AbortSignal.any([call.signal, wake.signal]));
      }
    },
  };
}

async function look(sessions: Sessions, call: Call): Promise<SessionsNews> {
  try {
    return { type: 'listed', sessions: await sessions.list(call) };
  } catch (error) {
    if (call.signal.aborted) return { type: 'unlisted', message: '' };
    if (!(error instanceof SbxError)) throw error;
    return { type: 'unlisted', message: error.message };
  }
}
