import { printOutcomes } from '../../lib/cli/each-sandbox.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { resolveSession } from '../../lib/ops/resolve-session.ts';
import { killSessions } from '../../lib/ops/sessions.ts';

/** Ends sessions with all that runs in them. */
export default class SessionsKill extends SbxCommand<typeof SessionsKill> {
  static summary = 'end sessions with all that runs in them';
  static description =
    'HUP goes to every process of the session, also to those that left its terminal, then TERM, and KILL after two seconds. One that has ended is forgotten with its recording.';
  static examples = ['<%= config.bin %> sessions kill box build'];
  static aliases = ['sessions:rm'];
  static usage = '[SANDBOX] [SESSION…]';
  static args = {
    session: Args.string({
      multiple: true,
      completes: 'sandbox:running then session',
      description: 'the sandbox, then names of its sessions; left out: asked for',
    }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const verb = 'sessions kill';
    const [ref, ...given] = args.session ?? [];
    const sandbox = await resolveSandbox(context, ref, call, { verb, rest: 'SESSION' });
    const { having } = await context.backends();
    const names =
      given.length > 0
        ? given
        : [await resolveSession(context, sandbox, undefined, call, { verb, ended: true })];
    const outcomes = await killSessions(sandbox, { names, having }, call);
    await printOutcomes(
      this,
      outcomes.map((outcome) =>
        outcome.error === undefined
          ? {
              name: outcome.name,
              value: { name: outcome.name, backend: sandbox.backend, done: 'ended' },
            }
          : outcome,
      ),
    );
  }
}
