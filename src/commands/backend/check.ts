import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { checkBackend } from '../../lib/ops/backends.ts';
import { checkView, hintLines } from '../../lib/ui/check-view.ts';

/** Asks a backend whether it works. */
export default class BackendCheck extends SbxCommand<typeof BackendCheck> {
  static summary = 'ask a backend whether it works';
  static description = 'Exits with 1 when a check fails; warnings are fine.';
  static args = {
    name: Args.string({
      completes: 'backend',
      description: 'a configured backend; without it, the default one',
    }),
  };
  static examples = ['<%= config.bin %> backend check', '<%= config.bin %> backend check prod --json'];

  async run(): Promise<number> {
    const backends = await this.context.backends();
    const results = await checkBackend(backends, this.args.name ?? backends.default(), {
      signal: this.context.signal,
    });
    await this.print(results, checkView);
    if (this.format === 'table') for (const line of hintLines(results)) this.context.logger.info(line);
    return results.some(({ status }) => status === 'failed') ? 1 : 0;
  }
}
