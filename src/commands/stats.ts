import { sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { duration, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { canDraw } from '../lib/cli/screens/can-draw.ts';
import { failureOf, onEach } from '../lib/ops/each.ts';
import { LEAST_GAP_MS, measure, type StatsLook, watchStats } from '../lib/ops/stats.ts';
import { statsView } from '../lib/ui/stats-view.ts';
import { visible } from '../lib/ui/text.ts';

const OPTIONS = { verb: 'stats' };

/** Shows what sandboxes use. */
export default class StatsCommand extends SbxCommand<typeof StatsCommand> {
  static summary = 'show the CPU, memory, disk, network and processes that sandboxes use';
  static description =
    'CPU is the share of one CPU between two looks: 200% is two of them. What is not known is shown as -, and is absent in JSON. With --watch it looks again and again until Ctrl-C, on a terminal with the last minute as bars; --json then prints one object a line.';
  static examples = [
    '<%= config.bin %> stats box',
    '<%= config.bin %> stats box-a box-b --watch',
    '<%= config.bin %> stats box --watch --interval 5s --json',
  ];
  static args = { sandbox: sandboxesArg };
  static flags = {
    watch: Flags.boolean({ char: 'w', summary: 'look again and again' }),
    interval: duration({ default: 1000, defaultHelp: async () => '1s', summary: 'how often --watch looks' }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const { having } = await context.backends();
    const names = this.args.sandbox ?? [];
    if (!flags.watch) {
      const outcomes = await onEach(
        context,
        names,
        OPTIONS,
        (sandbox) => measure(sandbox, having, call),
        call,
      );
      const rows = outcomes.flatMap(({ value }) => (value === undefined ? [] : [value]));
      if (rows.length > 0 || this.wantsJson) await this.print(rows, statsView);
      for (const { name, error } of outcomes.length > 1 ? outcomes : [])
        if (error !== undefined) this.#warn(name, error);
      const failure = failureOf(outcomes);
      if (failure !== undefined) throw failure;
      return;
    }
    const found = await onEach(context, names, OPTIONS, async (sandbox) => sandbox, call);
    const failure = failureOf(found);
    if (failure !== undefined) throw failure;
    const sandboxes = found.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const intervalMs = Math.max(flags.interval, LEAST_GAP_MS);
    if (canDraw(this)) {
      const { showStats } = await import('../lib/cli/screens/watch.ts');
      await showStats(context, sandboxes, { intervalMs, wide: this.format === 'wide' });
      return;
    }
    let last: StatsLook['lost'][number] | undefined;
    let drawn = 0;
    for await (const { rows, lost } of watchStats(sandboxes, { having, intervalMs }, call)) {
      for (const each of lost) this.#warn(each.name, each.error);
      last = lost.at(-1) ?? last;
      if (lost.length > 0) drawn = 0;
      if (rows.length > 0) drawn = await this.#draw(rows, drawn);
    }
    if (last !== undefined && !call.signal.aborted) throw last.error;
  }

  async #draw(rows: StatsLook['rows'], drawn: number): Promise<number> {
    if (this.wantsJson) {
      for (const row of rows) this.line(JSON.stringify(row));
      return 0;
    }
    const { stdout } = this.context.io;
    // Up to the first line of the last table, and everything below it gone.
    if (stdout.isTTY && drawn > 0) stdout.write(`\u001b[${drawn}A\u001b[J`);
    await this.print(rows, statsView);
    return rows.length + 1;
  }

  #warn(name: string, error: Error): void {
    this.context.logger.warn(`${visible(name)}: ${visible(error.message)}`);
  }
}
