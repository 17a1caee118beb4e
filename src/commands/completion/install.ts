import { SHELLS } from '../../lib/cli/completion/answer.ts';
import { parentName, scriptOf, shellOf } from '../../lib/cli/completion/shell-script.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { completionPlace, installCompletion } from '../../lib/ops/completion-install.ts';
import { completionView } from '../../lib/ui/completion-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Puts the completion script where the shell looks for it. */
export default class CompletionInstall extends SbxCommand<typeof CompletionInstall> {
  static summary = 'put the completion script where the shell looks for it';
  static description =
    'Says which files it writes, and what is left to do. The start-up files of bash and zsh are not touched; PowerShell looks nowhere by itself, so its profile gets one line. Doing it again changes nothing.';
  static examples = [
    '<%= config.bin %> completion install',
    '<%= config.bin %> completion install zsh --dry-run',
  ];
  static args = {
    shell: Args.string({ options: [...SHELLS], description: 'left out: the shell that runs this' }),
  };
  static flags = {
    'dry-run': Flags.boolean({ summary: 'only tell what would be done' }),
  };

  async run(): Promise<undefined> {
    const { context, args, flags, table } = this;
    const { logger, env } = context;
    const shell = shellOf(args.shell, env, parentName());
    const place = completionPlace(shell, env);
    const dryRun = flags['dry-run'];
    const change = await installCompletion(place, scriptOf(shell, table), { dryRun });
    await this.printOne(change, completionView);
    const { profile, left, done } = change;
    if (profile !== undefined) logger.info(visible(`${dryRun ? 'would add' : 'added'} a line to ${profile}`));
    if (dryRun) logger.info('nothing was changed');
    if (left !== undefined) logger.info(visible(`left to do: ${left}`));
    else if (!dryRun && done !== 'unchanged')
      logger.info(`it works in the next ${place.starts ?? `${shell} that you start`}`);
  }
}
