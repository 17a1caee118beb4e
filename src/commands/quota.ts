import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { type QuotaRow, quota } from '../lib/ops/quota.ts';
import type { View } from '../lib/ui/output.ts';
import { visible } from '../lib/ui/text.ts';

const view: View<QuotaRow> = {
  name: ({ backend }) => backend,
  columns: [
    { header: 'BACKEND', value: ({ backend }) => backend, whole: true },
    { header: 'USED', value: ({ used }) => String(used), align: 'right' },
    { header: 'TOTAL', value: ({ total }) => String(total), align: 'right' },
  ],
};

/** Counts sandboxes. */
export default class Quota extends SbxCommand<typeof Quota> {
  static summary = 'count the sandboxes in use on each backend';
  static description =
    'USED are those that are being made, run or are paused; TOTAL counts stopped ones too. ' +
    'Exits with 1 when a backend could not be asked.';
  static examples = ['<%= config.bin %> quota', '<%= config.bin %> quota --backend local --json'];

  async run(): Promise<number> {
    const backends = await this.context.backends();
    const { settings, signal, logger } = this.context;
    if (settings.backend !== undefined) backends.describe(settings.backend);
    const names = settings.backend === undefined ? backends.names() : [settings.backend];
    const { rows, failures } = await quota(backends, names, { signal });
    await this.print(rows, view);
    for (const { backend, error } of failures) logger.warn(visible(`backend '${backend}': ${error.message}`));
    return failures.length > 0 ? 1 : 0;
  }
}
