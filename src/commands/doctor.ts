import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { diagnose, type Finding } from '../lib/ops/doctor.ts';
import { checkView, hintLines } from '../lib/ui/check-view.ts';
import type { View } from '../lib/ui/output.ts';

const view: View<Finding> = {
  name: ({ name }) => name,
  columns: [{ header: 'BACKEND', value: ({ backend }) => backend ?? 'sbx' }, ...checkView.columns],
};

/** Says what works on this machine. */
export default class Doctor extends SbxCommand<typeof Doctor> {
  static summary = 'say what works on this machine and what to install for the rest';
  static description = 'Exits with 0 when sandboxes can be made on the default backend, else with 1.';
  static examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --json'];

  async run(): Promise<number> {
    const { context } = this;
    const { findings, usable } = await diagnose(
      { nodeVersion: process.versions.node, config: context.paths.config, open: () => context.backends() },
      { signal: context.signal },
    );
    await this.print(findings, view);
    if (this.format === 'table') for (const line of hintLines(findings)) context.logger.info(line);
    if (!usable) context.logger.warn('no sandbox can be made here as things are; see the failed checks');
    return usable ? 0 : 1;
  }
}
