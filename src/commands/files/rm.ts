import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { removeFile } from '../../lib/ops/files.ts';
import { doneView } from '../../lib/ui/done-view.ts';

/** Removes a file. */
export default class FilesRm extends SbxCommand<typeof FilesRm> {
  static summary = 'remove a file, or with --recursive a directory, in a sandbox';
  static description = 'Symlinks are removed themselves. A missing file exits 3 unless --force is given.';
  static usage = '[SANDBOX] PATH';
  static examples = [
    '<%= config.bin %> files rm box /tmp/old.log',
    '<%= config.bin %> files rm box build -rf',
  ];
  static args = fileArgs;
  static flags = {
    recursive: Flags.boolean({ char: 'r', summary: 'a directory with all that it holds' }),
    force: Flags.boolean({ char: 'f', summary: 'a missing one is no error' }),
  };

  async run(): Promise<undefined> {
    const { recursive, force } = this.flags;
    const call = { signal: this.context.signal };
    const { sandbox, path } = this.args;
    const target = await fileTarget(this.context, { sandbox, path }, 'rm', call);
    await removeFile(target, target.path, { recursive, force }, call);
    if (this.format === 'table' || this.format === 'wide') return;
    await this.printOne({ sandbox: target.sandbox.name, path: target.path, done: 'removed' }, doneView);
  }
}
