import { need } from '../lib/backend/need.ts';
import { eachSandbox, STOP_GRACE_MS, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { duration } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';

/** Stops sandboxes. */
export default class Stop extends SbxCommand<typeof Stop> {
  static summary = 'end all processes of sandboxes; their files stay';
  static description =
    'Processes get TERM, and KILL when they are still there after --timeout. One that is stopped already is left as it is.';
  static examples = ['<%= config.bin %> stop box', '<%= config.bin %> stop box-a box-b --timeout 30s'];
  static args = { sandbox: { ...sandboxesArg, completes: 'sandbox:running,paused' } };
  static flags = {
    timeout: duration({ char: 't', summary: 'grace between TERM and KILL, 10s if left out' }),
  };

  async run(): Promise<undefined> {
    const { having } = await this.context.backends();
    const graceMs = this.flags.timeout ?? STOP_GRACE_MS;
    await eachSandbox(this, this.args.sandbox, {
      verb: 'stop',
      done: 'stopped',
      states: ['running', 'paused'],
      act: (sandbox, call) => need(sandbox, 'power', having).stop({ graceMs }, call),
    });
  }
}
