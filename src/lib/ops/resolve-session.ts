/** Which session of a sandbox a command means: the named one, the obvious one, or the one that somebody chooses. */
import type { Call, Sandbox, SessionInfo } from '../backend/contract.ts';
import { need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { ageOf } from '../util/duration.ts';
import { facts, pick } from './pick.ts';
import type { ResolveContext } from './resolve-sandbox.ts';

/** What a verb may say about the session that it takes when none is named. */
export interface ResolveSessionOptions {
  /** As on the command line, such as `sessions kill`; the hint is `sbx VERB SANDBOX SESSION`. */
  readonly verb: string;
  /** How the session stands on the command line. Default: as the word after the sandbox. */
  readonly flag?: string;
  /** Take the only running one without asking. Not for verbs that destroy. */
  readonly obvious?: boolean;
  /** Offer ended ones too. */
  readonly ended?: boolean;
}

/**
 * The name of the session that is meant. One that is named is not looked up: what is done with it does that.
 * @throws SbxError `usage` when none is named and nobody can be asked; `not_found` when there is none.
 */
export async function resolveSession(
  context: ResolveContext,
  sandbox: Sandbox,
  name: string | undefined,
  call: Call,
  { verb, flag, obvious = false, ended = false }: ResolveSessionOptions,
): Promise<string> {
  if (name !== undefined) return name;
  const sessions = need(sandbox, 'sessions', (await context.backends()).having);
  const list = async () => {
    const all = await sessions.list(call);
    const running = all.filter(({ state }) => state === 'running');
    return ended ? [...running, ...all.filter((each) => !running.includes(each))] : running;
  };
  const known = obvious ? await list() : undefined;
  const [only, second] = known ?? [];
  if (only !== undefined && second === undefined) {
    context.logger.info(`using session '${only.name}', the only one of sandbox '${sandbox.name}'`);
    return only.name;
  }
  const word = flag === undefined ? 'SESSION' : `${flag} SESSION`;
  const picked = await pick(context, {
    message: `Which session of '${sandbox.name}'?`,
    items: async () => known ?? (await list()),
    choice: (session) => ({ name: session.name, description: described(session, context.clock.now()) }),
    missing: new SbxError('usage', `no session of sandbox '${sandbox.name}' is named`, {
      hint: `sbx ${verb} ${sandbox.name} ${word}; see them: sbx sessions ${sandbox.name}`,
    }),
    none: new SbxError('not_found', `sandbox '${sandbox.name}' has no session`, {
      hint: `start one: sbx shell ${sandbox.name}`,
    }),
  });
  return picked.name;
}

function described({ state, attached, createdAt, command, workdir }: SessionInfo, now: Date): string {
  const watched = attached === undefined ? undefined : attached ? 'attached' : 'detached';
  return facts(state === 'running' ? watched : state, ageOf(createdAt, now), command, workdir);
}
