/** Sessions of a local sandbox: its folder for them lies on this machine, so clients attach without a command inside. */
import type { AttachOptions, Call, SessionChannel, Sessions } from '../../backend/contract.ts';
import type { ExecSandbox } from '../../backend/derived/run-guest.ts';
import { attachInFolder, openSession, readRecording } from '../../backend/derived/session-folder.ts';
import { deriveSessions } from '../../backend/derived/sessions.ts';
import { isSessionName } from '../../guest/sessions.ts';

/** What this needs to know of the sandbox. */
export interface SessionPlace {
  /** Its guest folder on this machine. */
  readonly guest: string;
  /** Throws `conflict` unless it takes commands now. */
  readonly refuseResting: () => void;
  readonly isRunning: () => boolean;
}

/** The `sessions` capability. What lies elsewhere, or belongs to a user whose files this one may not open, goes by exec. */
export function localSessions(sandbox: ExecSandbox, place: SessionPlace): Sessions {
  const derived = deriveSessions(sandbox);
  const folderOf = async (name: string) =>
    isSessionName(name) ? await openSession(place.guest, name) : undefined;
  return {
    ...derived,
    async attach(name: string, options: AttachOptions, call: Call): Promise<SessionChannel> {
      place.refuseResting();
      const session = await folderOf(name);
      if (session === undefined) return await derived.attach(name, options, call);
      const { isRunning } = place;
      return await attachInFolder(session, { ...options, sandbox: sandbox.name, name, isRunning }, call);
    },
    async recording(name, bytes, call) {
      const session = await folderOf(name);
      if (session === undefined) return await derived.recording(name, bytes, call);
      try {
        return await readRecording(session, bytes);
      } finally {
        await session.close();
      }
    },
  };
}
