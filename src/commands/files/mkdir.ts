import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { makeDirectory, parseMode } from '../../lib/ops/files.ts';
import { doneView } from '../../lib/ui/done-view.ts';

/** Makes a directory. */
export default class FilesMkdir extends SbxCommand<typeof FilesMkdir> {
  static summary = 'make a directory in a sandbox';
  static usage = '[SANDBOX] PATH';
  static examples = [
    '<%= config.bin %> files mkdir box /srv/www -p',
    '<%= config.bin %> files mkdir box keys --mode 700',
  ];
  static args = fileArgs;
  static flags = {
    mode: Flags.string({ completes: 'none', helpValue: '<octal>', summary: 'permissions, such as 755' }),
    parents: Flags.boolean({
      char: 'p',
      summary: 'missing folders above it too; one that is there is no error',
    }),
  };

  async run(): Promise<undefined> {
    const { flags } = this;
    const call = { signal: this.context.signal };
    const mode = flags.mode === undefined ? undefined : parseMode(flags.mode);
    const { sandbox, path } = this.args;
    const target = await fileTarget(this.context, { sandbox, path }, 'mkdir', call);
    await makeDirectory(target, target.path, { mode, parents: flags.parents }, call);
    if (this.format === 'table' || this.format === 'wide') return;
    await this.printOne({ sandbox: target.sandbox.name, path: target.path, done: 'made' }, doneView);
  }
}
