import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { listProcesses } from '../lib/ops/processes.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { processView } from '../lib/ui/process-view.ts';

/** Lists background processes. */
export default class Ps extends SbxCommand<typeof Ps> {
  static summary = 'list the background processes of a sandbox and its main process';
  static description =
    'Shows what runs, and the main process in any state. EXIT is an exit code or the signal that ended it; - is unknown, as for what ended with its sandbox. The newest 256 ended processes are kept.';
  static examples = ['<%= config.bin %> ps box', '<%= config.bin %> ps box --all --json'];
  static args = { sandbox: sandboxArg };
  static flags = {
    all: Flags.boolean({ char: 'a', summary: 'also those that have ended' }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'ps' });
    const { having } = await context.backends();
    await this.print(await listProcesses(sandbox, { all: flags.all, having }, call), processView);
  }
}
