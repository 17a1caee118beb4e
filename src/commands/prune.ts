import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { type PruneResult, type PruneRow, prune, prunedBytes } from '../lib/ops/prune.ts';
import type { View } from '../lib/ui/output.ts';
import { visible } from '../lib/ui/text.ts';
import { formatSize } from '../lib/util/size.ts';

const view: View<PruneRow> = {
  name: ({ id }) => id,
  columns: [
    { header: 'BACKEND', value: ({ backend }) => backend },
    { header: 'KIND', value: ({ kind }) => kind },
    { header: 'ID', value: ({ id }) => id, whole: true },
    {
      header: 'SIZE',
      value: ({ size }) => (size === undefined ? undefined : formatSize(size)),
      align: 'right',
    },
    { header: 'REASON', value: ({ reason }) => reason },
  ],
};

/** Removes what nothing needs. */
export default class Prune extends SbxCommand<typeof Prune> {
  static summary = 'remove what no sandbox and no snapshot needs';
  static description =
    'Finds expired and half-made sandboxes and unused data. Sandboxes in use and snapshots are never removed. ' +
    'With --all it exits with 1 when a backend failed; the others are pruned all the same.';
  static flags = {
    'dry-run': Flags.boolean({ summary: 'only tell what would be removed' }),
    all: Flags.boolean({ char: 'a', summary: 'on all configured backends' }),
  };
  static examples = ['<%= config.bin %> prune --dry-run', '<%= config.bin %> prune --all --yes'];

  async run(): Promise<number> {
    const { all, 'dry-run': dryRun } = this.flags;
    const backends = await this.context.backends();
    const { settings, signal } = this.context;
    if (all && settings.backend !== undefined)
      throw new SbxError('usage', '--all and --backend exclude each other');
    const names = all ? backends.names() : [backends.default()];
    if (!all) backends.describe(backends.default());
    const pruned = async (some: readonly string[], onlyTell: boolean) => {
      const result = await prune(backends, some, onlyTell, { signal });
      const [failure] = result.failures;
      if (failure !== undefined && !all) throw failure.error;
      return result;
    };
    if (dryRun || settings.yes)
      return this.#report(await pruned(names, dryRun), dryRun ? 'would be removed' : 'removed');
    const planned = await pruned(names, true);
    if (planned.items.length === 0) return this.#report(planned, 'removed');
    // Shown first, so that the question can be answered; the result is printed once it is done.
    for (const { kind, id, reason } of planned.items)
      this.context.logger.info(visible(`${kind} ${id}: ${reason}`));
    if (!(await this.confirm(`Remove ${summaryOf(planned.items)}?`)))
      throw new SbxError('failed', 'nothing was removed');
    const failed = new Set(planned.failures.map(({ backend }) => backend));
    const done = await pruned(
      names.filter((name) => !failed.has(name)),
      false,
    );
    return this.#report({ items: done.items, failures: [...planned.failures, ...done.failures] }, 'removed');
  }

  async #report({ items, failures }: PruneResult, outcome: string): Promise<number> {
    await this.print(items, view);
    for (const { backend, error } of failures)
      this.context.logger.warn(visible(`backend '${backend}': ${error.message}`));
    this.context.logger.info(items.length === 0 ? `nothing ${outcome}` : `${summaryOf(items)} ${outcome}`);
    return failures.length > 0 ? 1 : 0;
  }
}

function summaryOf(items: readonly PruneRow[]): string {
  const bytes = prunedBytes(items);
  return `${items.length} ${items.length === 1 ? 'thing' : 'things'}${bytes > 0 ? ` (${formatSize(bytes)})` : ''}`;
}
