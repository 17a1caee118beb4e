import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { openLocalFile, parseMode, writeFile } from '../../lib/ops/files.ts';
import type { View } from '../../lib/ui/output.ts';
import { formatSize } from '../../lib/util/size.ts';

/** Writes one file. */
export default class FilesWrite extends SbxCommand<typeof FilesWrite> {
  static summary = 'write a file in a sandbox from standard input or a local file';
  static description =
    'The file holds its old content or all of the new one, never half. It keeps the mode that it has; what a symlink leads to is written.';
  static usage = '[SANDBOX] PATH [FILE]';
  static examples = [
    'echo hello | <%= config.bin %> files write box /tmp/greeting',
    '<%= config.bin %> files write box /usr/local/bin/tool ./tool --mode 755',
    '<%= config.bin %> files write box logs/deep/a.txt ./a.txt -p',
  ];
  static args = {
    ...fileArgs,
    file: Args.string({ completes: 'file', description: 'local file; left out: standard input' }),
  };
  static flags = {
    mode: Flags.string({ completes: 'none', helpValue: '<octal>', summary: 'permissions, such as 644' }),
    parents: Flags.boolean({ char: 'p', summary: 'make missing folders' }),
  };

  async run(): Promise<undefined> {
    const { context, args, flags } = this;
    const call = { signal: context.signal };
    const mode = flags.mode === undefined ? undefined : parseMode(flags.mode);
    const target = await fileTarget(context, { sandbox: args.sandbox, path: args.path }, 'write', call);
    const content = args.file === undefined ? context.io.stdin.stream() : await openLocalFile(args.file);
    const bytes = await writeFile(target, target.path, content, { mode, parents: flags.parents }, call);
    if (this.format === 'table' || this.format === 'wide') return;
    await this.printOne({ sandbox: target.sandbox.name, path: target.path, bytes }, written);
  }
}

interface Written {
  readonly sandbox: string;
  readonly path: string;
  readonly bytes: number;
}

const written: View<Written> = {
  name: ({ path }) => path,
  columns: [
    { header: 'PATH', value: ({ path }) => path },
    { header: 'SIZE', value: ({ bytes }) => formatSize(bytes) },
  ],
};
