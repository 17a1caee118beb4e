import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { listFiles } from '../../lib/ops/files.ts';
import { filesView } from '../../lib/ui/files-view.ts';

/** Lists a directory. */
export default class FilesLs extends SbxCommand<typeof FilesLs> {
  static summary = 'list a directory in a sandbox';
  static description =
    'Shows hidden files too. A word alone is a path in the default sandbox when it starts with "/" or "."; else it is a sandbox, whose workdir is listed.';
  static usage = '[SANDBOX] [PATH]';
  static examples = [
    '<%= config.bin %> files ls box /etc',
    '<%= config.bin %> files ls box',
    '<%= config.bin %> files ls box /var/log --json',
  ];
  static args = fileArgs;

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const words = { sandbox: args.sandbox, path: args.path };
    if (words.sandbox === undefined) words.sandbox = '.';
    else if (words.path === undefined && !/^[/.]/.test(words.sandbox)) words.path = '.';
    const target = await fileTarget(context, words, 'ls', call);
    await this.print(await listFiles(target, target.path, call), filesView);
  }
}
