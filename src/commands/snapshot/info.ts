import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { askForSnapshot } from '../../lib/ops/ask-for-snapshot.ts';
import { snapshotStore } from '../../lib/ops/snapshot.ts';
import { snapshotView } from '../../lib/ui/snapshot-view.ts';

/** Says everything known of a snapshot. */
export default class SnapshotInfo extends SbxCommand<typeof SnapshotInfo> {
  static summary = 'everything known of a snapshot';
  static examples = ['<%= config.bin %> snapshot info before-upgrade --json'];
  static aliases = ['snapshot:inspect'];
  static args = {
    snapshot: Args.string({
      completes: 'snapshot',
      description: 'id, the start of one, or name; BACKEND/ID on another backend; left out: asked for',
    }),
  };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    if (this.args.snapshot === undefined) {
      await this.printOne(await askForSnapshot(context, { command: 'snapshot info' }, call), snapshotView);
      return;
    }
    const { backend, store, name } = await snapshotStore(context, this.args.snapshot);
    const snapshot = await store.get(name, call);
    await this.printOne({ ...snapshot, backend: backend.name }, snapshotView);
  }
}
