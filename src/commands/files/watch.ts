import { fileArgs, fileTarget } from '../../lib/cli/file-target.ts';
import { Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { watchFiles } from '../../lib/ops/files.ts';
import { eventLine } from '../../lib/ui/files-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Prints changes. */
export default class FilesWatch extends SbxCommand<typeof FilesWatch> {
  static summary = 'print changes of files in a sandbox as they come';
  static description =
    'One line a change: + made, ~ changed, - removed; with --json one object a line. Where the sandbox has inotifywait 3.22 or later, changes come at once; else a loop inside looks once a second, and what comes and goes between two looks is not seen. Runs until Ctrl-C.';
  static usage = '[SANDBOX] PATH';
  static examples = [
    '<%= config.bin %> files watch box /var/log',
    '<%= config.bin %> files watch box src --recursive --json',
  ];
  static args = fileArgs;
  static flags = { recursive: Flags.boolean({ char: 'r', summary: 'everything below, too' }) };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const { sandbox, path } = this.args;
    const target = await fileTarget(context, { sandbox, path }, 'watch', call);
    const { recursive } = this.flags;
    for await (const event of watchFiles(target, target.path, { recursive }, call)) {
      if (this.wantsJson) this.line(JSON.stringify({ time: context.clock.now().toISOString(), ...event }));
      else this.line(visible(this.format === 'name' ? event.path : eventLine(event)));
    }
  }
}
