import type { Call } from '../../lib/backend/contract.ts';
import { type EachRow, printOutcomes } from '../../lib/cli/each-sandbox.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { askForSnapshot } from '../../lib/ops/ask-for-snapshot.ts';
import { doEach } from '../../lib/ops/each.ts';
import { snapshotStore } from '../../lib/ops/snapshot.ts';
import { countOf } from '../../lib/ui/names.ts';

/** Removes snapshots. */
export default class SnapshotRm extends SbxCommand<typeof SnapshotRm> {
  static summary = 'remove snapshots';
  static description =
    'Asks first; --yes answers. One that a sandbox was made from cannot be removed before the sandbox.';
  static examples = [
    '<%= config.bin %> snapshot rm before-upgrade',
    '<%= config.bin %> snapshot rm --yes ID-A ID-B',
  ];
  static aliases = ['snapshot:remove', 'snapshot:delete'];
  static args = {
    snapshot: Args.string({
      multiple: true,
      completes: 'snapshot',
      description: 'ids, starts of ids, or names; BACKEND/ID on another backend; left out: asked for',
    }),
  };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const refs = this.args.snapshot ?? [await this.#pick(call)];
    const sure = await this.confirm(`Remove ${countOf(refs, 'snapshot')} for good?`);
    if (!sure) throw new SbxError('failed', 'nothing was removed');
    const outcomes = await doEach(
      refs,
      async (ref): Promise<EachRow> => {
        const { backend, store, name } = await snapshotStore(context, ref);
        const { id } = await store.get(name, call);
        await store.remove(id, call);
        return { name: ref, id, backend: backend.name, done: 'removed' };
      },
      call,
    );
    await printOutcomes(this, outcomes);
  }

  async #pick(call: Call): Promise<string> {
    const { backend, id } = await askForSnapshot(this.context, { command: 'snapshot rm' }, call);
    return `${backend}/${id}`;
  }
}
