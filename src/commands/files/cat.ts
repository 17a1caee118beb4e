import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { untilOutputGone } from '../../lib/cli/output-gone.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { catFile } from '../../lib/ops/files.ts';

/** Prints a file. */
export default class FilesCat extends SbxCommand<typeof FilesCat> {
  static summary = 'print a file of a sandbox, byte for byte';
  static description = 'Streams whatever the size. There is no JSON: the output is the file itself.';
  static usage = '[SANDBOX] PATH';
  static examples = [
    '<%= config.bin %> files cat box /etc/os-release',
    '<%= config.bin %> files cat box core.gz | gunzip',
  ];
  static args = fileArgs;

  async run(): Promise<undefined> {
    if (this.format !== 'table') {
      throw new SbxError('usage', `files cat prints the file as it is and cannot print ${this.format}`, {
        hint: 'facts about the file as JSON: sbx files stat SANDBOX PATH --json',
      });
    }
    const call = { signal: this.context.signal };
    const { sandbox, path } = this.args;
    const target = await fileTarget(this.context, { sandbox, path }, 'cat', call);
    const output = this.context.io.stdout.stream();
    await untilOutputGone(output, () => catFile(target, target.path, output, call));
  }
}
