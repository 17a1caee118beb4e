import { sandboxArg } from '../../lib/cli/each-sandbox.ts';
import { Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { attacher, attachFlags } from '../../lib/cli/screens/attach.ts';
import { canDraw } from '../../lib/cli/screens/can-draw.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { listSessions } from '../../lib/ops/sessions.ts';
import { sessionView } from '../../lib/ui/session-view.ts';

/** Lists the sessions of a sandbox, or shows them live. */
export default class SessionsCommand extends SbxCommand<typeof SessionsCommand> {
  static summary = 'list the sessions of a sandbox: terminals that go on without you';
  static description =
    'On a terminal it shows them live: Enter attaches, n makes one, r renames, k ends, / filters, q quits. Elsewhere, with --all and in other formats it prints them once. COMMAND and CWD are those of what runs in the foreground. The newest 16 that ended are kept.';
  static aliases = ['sessions:ls', 'sessions:list'];
  static examples = [
    '<%= config.bin %> sessions box',
    '<%= config.bin %> sessions box --all --json',
    '<%= config.bin %> sessions create box build -- make -j4',
  ];
  static args = { sandbox: sandboxArg };
  static flags = {
    all: Flags.boolean({ char: 'a', summary: 'also those that have ended' }),
    ...attachFlags,
  };

  async run(): Promise<number | undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'sessions' });
    const { having } = await context.backends();
    if (!flags.all && canDraw(this)) {
      const { showSessions } = await import('../../lib/cli/screens/sessions.ts');
      return await showSessions(context, sandbox, attacher(context, flags, false));
    }
    await this.print(await listSessions(sandbox, { all: flags.all, having }, call), sessionView);
    return undefined;
  }
}
