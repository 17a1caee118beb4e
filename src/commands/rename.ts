import { need } from '../lib/backend/need.ts';
import { checkName } from '../lib/backend/spec.ts';
import { Args } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';

/** Gives a sandbox another name. */
export default class Rename extends SbxCommand<typeof Rename> {
  static summary = 'give a sandbox another name';
  static examples = ['<%= config.bin %> rename box web'];
  static args = {
    sandbox: Args.string({ required: true, description: 'name, id or BACKEND/NAME' }),
    name: Args.string({ required: true, description: 'its new name' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const name = checkName(args.name, 'the new name');
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call);
    await need(sandbox, 'rename', having)(name, call);
    if (this.format === 'table' || this.format === 'name') this.line(name);
    else await this.printOne(await sandbox.info(call), sandboxView);
  }
}
