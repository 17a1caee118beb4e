import { need } from '../lib/backend/need.ts';
import { eachSandbox, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';

/** Freezes sandboxes. */
export default class Pause extends SbxCommand<typeof Pause> {
  static summary = 'freeze all processes of sandboxes';
  static description = 'Processes stay in memory and use no CPU until sbx resume.';
  static examples = ['<%= config.bin %> pause box', '<%= config.bin %> pause box-a box-b --json'];
  static args = { sandbox: { ...sandboxesArg, completes: 'sandbox:running' } };

  async run(): Promise<undefined> {
    const { having } = await this.context.backends();
    await eachSandbox(this, this.args.sandbox, {
      verb: 'pause',
      done: 'paused',
      states: ['running'],
      act: (sandbox, call) => need(sandbox, 'suspend', having).pause(call),
    });
  }
}
