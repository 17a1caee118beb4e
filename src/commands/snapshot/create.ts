import { need } from '../../lib/backend/need.ts';
import { checkName, parseLabels } from '../../lib/backend/spec.ts';
import { sandboxArg } from '../../lib/cli/each-sandbox.ts';
import { Flags } from '../../lib/cli/flags.ts';
import { startProgress } from '../../lib/cli/progress.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { snapshotView } from '../../lib/ui/snapshot-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Keeps a picture of a sandbox's files. */
export default class SnapshotCreate extends SbxCommand<typeof SnapshotCreate> {
  static summary = 'keep a picture of the files of a sandbox, and print its id';
  static description = 'The sandbox goes on. Make new ones from the snapshot with sbx create --from ID.';
  static examples = [
    '<%= config.bin %> snapshot create box',
    '<%= config.bin %> snapshot create box --name before-upgrade',
  ];
  static args = { sandbox: sandboxArg };
  static flags = {
    name: Flags.string({ completes: 'none', helpValue: '<name>', summary: 'name to find it by' }),
    label: Flags.string({
      char: 'l',
      multiple: true,
      completes: 'none',
      helpValue: '<k[=v]>',
      summary: 'label; may be repeated',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const options = {
      name: flags.name === undefined ? undefined : checkName(flags.name, "the snapshot's name"),
      labels: parseLabels(flags.label ?? []),
    };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'snapshot create' });
    const snapshots = need(sandbox, 'snapshots', having);
    using progress = startProgress(this);
    progress.step(`taking a snapshot of sandbox '${sandbox.name}'`);
    const snapshot = await snapshots.create(options, { ...call, onStep: progress.step });
    progress.end('took the snapshot');
    if (this.format === 'table' || this.format === 'name') this.line(visible(snapshot.id));
    else await this.printOne({ ...snapshot, backend: sandbox.backend }, snapshotView);
  }
}
