import { SHELLS } from '../../lib/cli/completion/answer.ts';
import { parentName, shellOf } from '../../lib/cli/completion/shell-script.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { completionPlace, uninstallCompletion } from '../../lib/ops/completion-install.ts';
import { completionView } from '../../lib/ui/completion-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Takes the completion script away. */
export default class CompletionUninstall extends SbxCommand<typeof CompletionUninstall> {
  static summary = 'take away what completion install made';
  static examples = [
    '<%= config.bin %> completion uninstall',
    '<%= config.bin %> completion uninstall fish --dry-run',
  ];
  static args = {
    shell: Args.string({ options: [...SHELLS], description: 'left out: the shell that runs this' }),
  };
  static flags = {
    'dry-run': Flags.boolean({ summary: 'only tell what would be removed' }),
  };

  async run(): Promise<undefined> {
    const { context, args, flags } = this;
    const { logger, env } = context;
    const place = completionPlace(shellOf(args.shell, env, parentName()), env);
    const dryRun = flags['dry-run'];
    const change = await uninstallCompletion(place, { dryRun });
    await this.printOne(change, completionView);
    const { profile, left } = change;
    if (profile !== undefined)
      logger.info(visible(`${dryRun ? 'would take' : 'took'} a line out of ${profile}`));
    if (dryRun) logger.info('nothing was changed');
    if (left !== undefined) logger.info(visible(left));
  }
}
