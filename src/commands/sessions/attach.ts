import { need } from '../../lib/backend/need.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { printOutcome, sessionFlags, sessionRequest, tellOutcome } from '../../lib/cli/session-flags.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { resolveSession } from '../../lib/ops/resolve-session.ts';
import { attachSession, refuseNoTerminal } from '../../lib/ops/shell.ts';

/** Attaches the terminal to a session that runs. */
export default class SessionsAttach extends SbxCommand<typeof SessionsAttach> {
  static summary = 'attach to a session that runs';
  static description =
    "Like shell, but never makes a session.\n\nExit codes: the session's own when it ended, 0 when it was left, 254 when a lost connection was given up or the sandbox was stopped, 255 when there was none.";
  static examples = [
    '<%= config.bin %> sessions attach box build',
    '<%= config.bin %> sessions attach box build --read-only',
  ];
  static args = {
    sandbox: Args.string({ completes: 'sandbox:running', description: 'name, id or BACKEND/NAME' }),
    session: Args.string({
      completes: 'session:running',
      description: 'its name; default: the only one that runs',
    }),
  };
  static flags = sessionFlags;
  static ownFailureExit = 255;

  async run(): Promise<number> {
    const { context, flags, args } = this;
    refuseNoTerminal(context, args.sandbox);
    const call = { signal: context.signal };
    const verb = 'sessions attach';
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb });
    const session = await resolveSession(context, sandbox, args.session, call, { verb, obvious: true });
    const sessions = need(sandbox, 'sessions', (await context.backends()).having);
    const request = { ...sessionRequest(flags, context), session, command: undefined, create: false };
    const outcome = await attachSession(sandbox, sessions, request, context);
    await printOutcome(outcome, sandbox, session, this);
    return tellOutcome(outcome, sandbox, session, context, this.wantsJson);
  }
}
