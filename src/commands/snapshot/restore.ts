import { need } from '../../lib/backend/need.ts';
import { type EachRow, printOutcomes } from '../../lib/cli/each-sandbox.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { visible } from '../../lib/ui/text.ts';

/** Takes a sandbox's files back to those of a snapshot. */
export default class SnapshotRestore extends SbxCommand<typeof SnapshotRestore> {
  static summary = 'make the files of a sandbox those of a snapshot';
  static description =
    'Asks first, because what was changed since is lost; --yes answers. Processes end, and a sandbox that ran runs again.';
  static examples = ['<%= config.bin %> snapshot restore box before-upgrade --yes'];
  static args = {
    sandbox: Args.string({ required: true, description: 'name, id or BACKEND/NAME' }),
    snapshot: Args.string({ required: true, description: 'id, the start of one, or name' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call);
    const snapshots = need(sandbox, 'snapshots', having);
    const sure = await this.confirm(
      `Replace all files of '${visible(sandbox.name)}' by those of the snapshot ${visible(args.snapshot)}?`,
    );
    if (!sure) throw new SbxError('failed', 'nothing was changed');
    await snapshots.restore(args.snapshot, call);
    const row: EachRow = { name: sandbox.name, id: sandbox.id, backend: sandbox.backend, done: 'restored' };
    await printOutcomes(this, [{ name: sandbox.name, value: row }]);
  }
}
