import { need } from '../lib/backend/need.ts';
import { eachSandbox, STOP_GRACE_MS, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { duration } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';

/** Stops and starts sandboxes. */
export default class Restart extends SbxCommand<typeof Restart> {
  static summary = 'stop and start sandboxes';
  static description =
    'Files stay, processes end, and the main command runs again. A stopped sandbox is started.';
  static examples = ['<%= config.bin %> restart box', '<%= config.bin %> restart box --timeout 2s'];
  static args = { sandbox: sandboxesArg };
  static flags = {
    timeout: duration({ char: 't', summary: 'grace between TERM and KILL, 10s if left out' }),
  };

  async run(): Promise<undefined> {
    const { having } = await this.context.backends();
    const graceMs = this.flags.timeout ?? STOP_GRACE_MS;
    await eachSandbox(this, this.args.sandbox, {
      verb: 'restart',
      done: 'restarted',
      states: ['running'],
      async act(sandbox, call) {
        const power = need(sandbox, 'power', having);
        await power.stop({ graceMs }, call);
        await power.start(call);
      },
    });
  }
}
