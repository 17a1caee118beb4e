import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { statFile } from '../../lib/ops/files.ts';
import { filesView } from '../../lib/ui/files-view.ts';

/** Tells about one file. */
export default class FilesStat extends SbxCommand<typeof FilesStat> {
  static summary = 'show type, size, mode, owner and time of one file in a sandbox';
  static description = 'Symlinks are not followed; add "/." to look at the directory that one leads to.';
  static usage = '[SANDBOX] PATH';
  static examples = ['<%= config.bin %> files stat box /etc/hostname --json'];
  static args = fileArgs;

  async run(): Promise<undefined> {
    const call = { signal: this.context.signal };
    const { sandbox, path } = this.args;
    const target = await fileTarget(this.context, { sandbox, path }, 'stat', call);
    await this.printOne(await statFile(target, target.path, call), filesView);
  }
}
