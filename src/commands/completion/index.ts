import { SHELLS } from '../../lib/cli/completion/answer.ts';
import { parentName, scriptOf, shellOf } from '../../lib/cli/completion/shell-script.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';

/** Prints the completion script of a shell. */
export default class Completion extends SbxCommand<typeof Completion> {
  static summary = 'print the completion script of a shell';
  static description =
    'For bash, zsh, fish and PowerShell. The script asks sbx at each press of Tab, so it need not be made anew when sbx changes. To keep it, use sbx completion install.';
  static examples = [
    'eval "$(<%= config.bin %> completion bash)"',
    '<%= config.bin %> completion fish | source',
    '<%= config.bin %> completion powershell | Out-String | Invoke-Expression',
    '<%= config.bin %> completion install',
  ];
  static args = {
    shell: Args.string({ options: [...SHELLS], description: 'left out: the shell that runs this' }),
  };

  async run(): Promise<undefined> {
    const { context, args, table } = this;
    const shell = shellOf(args.shell, context.env, parentName());
    const script = scriptOf(shell, table);
    if (this.format === 'table') context.io.stdout.write(script);
    else
      await this.printOne(
        { shell, script },
        { name: (row) => row.shell, columns: [{ header: 'SHELL', value: (row) => row.shell }] },
      );
  }
}
