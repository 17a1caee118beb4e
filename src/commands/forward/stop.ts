import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { type BackgroundForward, listForwards } from '../../lib/ops/forward/records.ts';
import { stopForward } from '../../lib/ops/forward/stop.ts';
import { backgroundView } from '../../lib/ui/forward-view.ts';

/** Ends forwards in the background. */
export default class ForwardStop extends SbxCommand<typeof ForwardStop> {
  static summary = 'end forwards that run in the background';
  static aliases = ['forward rm'];
  static examples = ['<%= config.bin %> forward stop 3fa2c1', '<%= config.bin %> forward stop --all'];
  static args = {
    id: Args.string({ multiple: true, completes: 'forward', description: 'as sbx forward ls shows it' }),
  };
  static flags = { all: Flags.boolean({ summary: 'end all of them' }) };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const { state } = context.paths;
    const named = this.args.id ?? [];
    if (named.length > 0 === flags.all) {
      throw new SbxError('usage', flags.all ? '--all takes no ids' : 'no forward is named', {
        hint: 'sbx forward stop ID, or sbx forward stop --all',
      });
    }
    const ids = flags.all ? (await listForwards(state)).forwards.map(({ id }) => id) : named;
    const stopped: BackgroundForward[] = [];
    for (const id of ids) {
      stopped.push(await stopForward(state, id, { signal: context.signal }));
      context.logger.info(`stopped ${id}`);
    }
    if (this.format !== 'table' && this.format !== 'wide') await this.print(stopped, backgroundView);
  }
}
