import type { Call, Sandbox } from '../../lib/backend/contract.ts';
import { need } from '../../lib/backend/need.ts';
import { type EachRow, printOutcomes, sandboxArg } from '../../lib/cli/each-sandbox.ts';
import { Args } from '../../lib/cli/flags.ts';
import { startProgress } from '../../lib/cli/progress.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { askForSnapshot } from '../../lib/ops/ask-for-snapshot.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { visible } from '../../lib/ui/text.ts';

/** Takes a sandbox's files back to those of a snapshot. */
export default class SnapshotRestore extends SbxCommand<typeof SnapshotRestore> {
  static summary = 'make the files of a sandbox those of a snapshot';
  static description =
    'Asks first, because what was changed since is lost; --yes answers. Processes end, and a sandbox that ran runs again.';
  static examples = ['<%= config.bin %> snapshot restore box before-upgrade --yes'];
  static args = {
    sandbox: sandboxArg,
    snapshot: Args.string({
      completes: 'snapshot',
      description: 'id, the start of one, or name; left out: asked for',
    }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call, {
      verb: 'snapshot restore',
      rest: 'SNAPSHOT',
      states: ['running', 'paused', 'stopped'],
    });
    const snapshots = need(sandbox, 'snapshots', having);
    const snapshot = args.snapshot ?? (await this.#pick(sandbox, call));
    const sure = await this.confirm(
      `Replace all files of sandbox '${visible(sandbox.name)}' by those of snapshot '${visible(snapshot)}'?`,
    );
    if (!sure) throw new SbxError('failed', 'nothing was changed');
    using progress = startProgress(this);
    progress.step(`restoring sandbox '${sandbox.name}'`);
    await snapshots.restore(snapshot, { ...call, onStep: progress.step });
    progress.end();
    const row: EachRow = { name: sandbox.name, id: sandbox.id, backend: sandbox.backend, done: 'restored' };
    await printOutcomes(this, [{ name: sandbox.name, value: row }]);
  }

  async #pick({ name, backend }: Sandbox, call: Call): Promise<string> {
    const command = `snapshot restore ${name}`;
    return (await askForSnapshot(this.context, { command, backend }, call)).id;
  }
}
