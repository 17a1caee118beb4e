import { need } from '../lib/backend/need.ts';
import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { Args } from '../lib/cli/flags.ts';
import { startProgress } from '../lib/cli/progress.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { forkSandbox } from '../lib/ops/fork.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';
import { visible } from '../lib/ui/text.ts';

const LIVING = ['running', 'paused', 'stopped'] as const;

/** Makes a copy of a sandbox. */
export default class Fork extends SbxCommand<typeof Fork> {
  static summary = 'make a copy that starts from the present files of a sandbox, and print its name';
  static description =
    'Processes are not copied; the main command starts anew. The two share nothing from then on.';
  static examples = ['<%= config.bin %> fork box', '<%= config.bin %> fork box box-copy --json'];
  static args = {
    sandbox: sandboxArg,
    name: Args.string({ completes: 'none', description: 'name of the copy; left out: one is made up' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'fork', states: LIVING });
    const fork = need(sandbox, 'fork', having);
    using progress = startProgress(this);
    progress.step(`copying sandbox '${sandbox.name}'`);
    const copy = await forkSandbox(fork, args.name, { ...call, onStep: progress.step });
    progress.end(`copied to '${copy.name}'`);
    if (this.format === 'table' || this.format === 'name') this.line(visible(copy.name));
    else await this.printOne(await copy.info(call), sandboxView);
  }
}
