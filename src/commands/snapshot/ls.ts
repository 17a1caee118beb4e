import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { exitCodeOf } from '../../lib/errors.ts';
import { listSnapshots } from '../../lib/ops/snapshot.ts';
import { snapshotView } from '../../lib/ui/snapshot-view.ts';

/** Lists snapshots. */
export default class SnapshotLs extends SbxCommand<typeof SnapshotLs> {
  static summary = 'list the snapshots of all backends that have them, the newest first';
  static examples = ['<%= config.bin %> snapshot ls', '<%= config.bin %> snapshot ls -q'];
  static aliases = ['snapshot:list'];

  async run(): Promise<number | undefined> {
    const { context } = this;
    const { snapshots, failures } = await listSnapshots(await context.backends(), this.flags.backend, {
      signal: context.signal,
    });
    await this.print(snapshots, snapshotView);
    for (const { backend, error } of failures)
      context.logger.warn(`backend '${backend}' is missing from the list: ${error.message}`);
    const [first] = failures;
    return first === undefined ? undefined : exitCodeOf(first.error);
  }
}
