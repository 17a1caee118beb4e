import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { listForwards } from '../../lib/ops/forward/records.ts';
import { backgroundView } from '../../lib/ui/forward-view.ts';

/** Lists forwards in the background. */
export default class ForwardLs extends SbxCommand<typeof ForwardLs> {
  static summary = 'list the forwards that run in the background';
  static description =
    'Each is checked against the processes of this machine: one whose process is gone is shown as ended, with the last message of its log, until it is stopped.';
  static aliases = ['forward list'];
  static examples = ['<%= config.bin %> forward ls', '<%= config.bin %> forward ls -o wide'];

  async run(): Promise<number> {
    const { forwards, broken } = await listForwards(this.context.paths.state);
    await this.print(forwards, backgroundView);
    for (const { message } of broken) this.context.logger.warn(message);
    return broken.length > 0 ? 1 : 0;
  }
}
