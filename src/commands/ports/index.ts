import { Args, duration, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { canDraw } from '../../lib/cli/screens/can-draw.ts';
import { listPorts, watchPorts } from '../../lib/ops/ports.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { portsView } from '../../lib/ui/ports-view.ts';

/** Lists what listens in a sandbox. */
export default class PortsCommand extends SbxCommand<typeof PortsCommand> {
  static summary = 'list what listens in a sandbox, with the process that listens';
  static description =
    'Shows TCP ports on any address inside. With --watch the list is live on a terminal; elsewhere it is printed again whenever it changes, until Ctrl-C; with --json then one object a line.';
  static examples = [
    '<%= config.bin %> ports box',
    '<%= config.bin %> ports box --json',
    '<%= config.bin %> ports box --watch',
  ];
  static args = {
    sandbox: Args.string({ completes: 'sandbox:running', description: 'name, id or BACKEND/NAME' }),
  };
  static flags = {
    watch: Flags.boolean({ summary: 'live on a terminal; else again whenever it changes' }),
    interval: duration({ default: 1000, defaultHelp: async () => '1s', summary: 'how often --watch looks' }),
  };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'ports' });
    const { having } = await context.backends();
    if (!this.flags.watch) {
      await this.print(await listPorts(sandbox, having, call), portsView);
      return;
    }
    const options = { having, intervalMs: Math.max(this.flags.interval, 100) };
    if (canDraw(this)) {
      const { showPorts } = await import('../../lib/cli/screens/watch.ts');
      await showPorts(context, sandbox, { ...options, wide: this.format === 'wide' });
      return;
    }
    for await (const ports of watchPorts(sandbox, options, call)) {
      if (this.wantsJson) this.line(JSON.stringify({ time: context.clock.now().toISOString(), ports }));
      else await this.print(ports, portsView);
    }
  }
}
