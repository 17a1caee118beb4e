import type { FileChange } from '../lib/backend/contract.ts';
import { need } from '../lib/backend/need.ts';
import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import type { View } from '../lib/ui/output.ts';
import { visible } from '../lib/ui/text.ts';

const LETTERS = { added: 'A', changed: 'C', removed: 'D' } as const;

const view: View<FileChange> = {
  name: ({ path }) => path,
  columns: [{ header: 'PATH', value: ({ path }) => path }],
};

/** Lists the files of a sandbox that differ. */
export default class Diff extends SbxCommand<typeof Diff> {
  static summary = 'files that were added, changed and removed since a sandbox was made';
  static description =
    'A line a file: A added, C changed, D removed. Control characters in names are made visible.';
  static examples = ['<%= config.bin %> diff box', '<%= config.bin %> diff box --snapshot before --json'];
  static args = { sandbox: sandboxArg };
  static flags = {
    snapshot: Flags.string({
      completes: 'snapshot',
      helpValue: '<snapshot>',
      summary: 'since this snapshot',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, {
      verb: 'diff',
      states: ['running', 'paused', 'stopped'],
    });
    const changes = need(sandbox, 'diff', having)({ since: flags.snapshot }, call);
    const all: FileChange[] = [];
    for await (const change of changes) {
      if (this.format === 'table' || this.format === 'wide')
        this.line(`${LETTERS[change.kind]} ${visible(change.path)}`);
      else if (this.format === 'jsonl') this.line(JSON.stringify(change));
      else all.push(change);
    }
    if (this.format === 'json' || this.format === 'yaml' || this.format === 'name')
      await this.print(all, view);
  }
}
