import { parseLabels } from '../lib/backend/spec.ts';
import { duration, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { attacher, attachFlags } from '../lib/cli/screens/attach.ts';
import { canDraw } from '../lib/cli/screens/can-draw.ts';
import { exitCodeOf } from '../lib/errors.ts';
import { topTable } from '../lib/ops/live/top-table.ts';
import { LEAST_GAP_MS } from '../lib/ops/stats.ts';
import { topView } from '../lib/ui/top-view.ts';

/** Shows all sandboxes on a full screen. */
export default class Top extends SbxCommand<typeof Top> {
  static summary = 'watch all sandboxes: what they use, their sessions, ports and screens';
  static description =
    'Full screen on a terminal: Enter opens a shell in the chosen sandbox and comes back afterwards, Tab shows another session of it, ? lists the keys. Elsewhere it prints the table once.';
  static examples = [
    '<%= config.bin %> top',
    '<%= config.bin %> top --all --label team=web',
    '<%= config.bin %> top --json',
  ];
  static flags = {
    all: Flags.boolean({ char: 'a', summary: 'also those that do not run' }),
    label: Flags.string({
      char: 'l',
      multiple: true,
      completes: 'none',
      helpValue: '<k[=v]>',
      summary: 'only with this label; may be repeated',
    }),
    interval: duration({
      default: 3000,
      defaultHelp: async () => '3s',
      summary: 'how often it measures the chosen one',
    }),
    ...attachFlags,
  };

  async run(): Promise<number | undefined> {
    const { context, flags } = this;
    const options = {
      all: flags.all,
      labels: parseLabels(flags.label ?? []),
      ...(flags.backend === undefined ? {} : { backends: [flags.backend] }),
    };
    if (canDraw(this)) {
      const { showTop } = await import('../lib/cli/screens/top.ts');
      const intervalMs = Math.max(flags.interval, LEAST_GAP_MS);
      return showTop(context, { ...options, intervalMs }, attacher(context, flags, true));
    }
    const call = { signal: context.signal };
    const { rows, failures } = await topTable(await context.backends(), options, call);
    const [first] = failures;
    if (first !== undefined && flags.backend !== undefined) throw first.error;
    await this.print(rows, topView);
    for (const { backend, error } of failures)
      context.logger.warn(`backend '${backend}' is missing from the list: ${error.message}`);
    return first === undefined ? undefined : exitCodeOf(first.error);
  }
}
