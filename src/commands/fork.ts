import { need } from '../lib/backend/need.ts';
import { Args } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { forkSandbox } from '../lib/ops/fork.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';
import { visible } from '../lib/ui/text.ts';

/** Makes a copy of a sandbox. */
export default class Fork extends SbxCommand<typeof Fork> {
  static summary = 'make a copy that starts from the present files of a sandbox, and print its name';
  static description =
    'Processes are not copied; the main command starts anew. The two share nothing from then on.';
  static examples = ['<%= config.bin %> fork box', '<%= config.bin %> fork box box-copy --json'];
  static args = {
    sandbox: Args.string({ required: true, description: 'name, id or BACKEND/NAME' }),
    name: Args.string({ description: 'name of the copy; left out: one is made up' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call);
    const copy = await forkSandbox(need(sandbox, 'fork', having), args.name, call);
    if (this.format === 'table' || this.format === 'name') this.line(visible(copy.name));
    else await this.printOne(await copy.info(call), sandboxView);
  }
}
