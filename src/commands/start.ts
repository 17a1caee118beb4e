import { need } from '../lib/backend/need.ts';
import { eachSandbox, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';

/** Starts stopped sandboxes. */
export default class Start extends SbxCommand<typeof Start> {
  static summary = 'start stopped sandboxes';
  static description =
    'The main command runs again, if there is one. One that runs already is left as it is.';
  static examples = ['<%= config.bin %> start box', '<%= config.bin %> start box-a box-b --json'];
  static args = { sandbox: { ...sandboxesArg, completes: 'sandbox:stopped' } };

  async run(): Promise<undefined> {
    const { having } = await this.context.backends();
    await eachSandbox(this, this.args.sandbox, {
      verb: 'start',
      done: 'started',
      states: ['stopped'],
      act: (sandbox, call) => need(sandbox, 'power', having).start(call),
    });
  }
}
