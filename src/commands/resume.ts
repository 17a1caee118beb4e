import { need } from '../lib/backend/need.ts';
import { eachSandbox, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';

/** Lets paused sandboxes go on. */
export default class Resume extends SbxCommand<typeof Resume> {
  static summary = 'let the processes of paused sandboxes go on';
  static description = 'One that runs already is left as it is.';
  static examples = ['<%= config.bin %> resume box', '<%= config.bin %> resume box-a box-b --json'];
  static args = { sandbox: { ...sandboxesArg, completes: 'sandbox:paused' } };

  async run(): Promise<undefined> {
    const { having } = await this.context.backends();
    await eachSandbox(this, this.args.sandbox, {
      verb: 'resume',
      done: 'resumed',
      states: ['paused'],
      act: (sandbox, call) => need(sandbox, 'suspend', having).resume(call),
    });
  }
}
