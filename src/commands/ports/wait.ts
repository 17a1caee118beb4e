import { parsePort } from '../../lib/backend/spec.ts';
import { Args, duration } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { listPorts } from '../../lib/ops/ports.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { waitFor } from '../../lib/ops/wait.ts';
import { portsView } from '../../lib/ui/ports-view.ts';
import { formatDuration } from '../../lib/util/duration.ts';

/** Waits until something listens. */
export default class PortsWait extends SbxCommand<typeof PortsWait> {
  static summary = 'wait until something listens on a port in a sandbox';
  static description = 'Exits 0 once it listens, 1 when it does not in time or the sandbox ends.';
  static usage = '[SANDBOX] PORT';
  static examples = [
    '<%= config.bin %> ports wait box 3000 --timeout 30s',
    '<%= config.bin %> ports wait box 5432 && <%= config.bin %> forward box 5432',
  ];
  static args = {
    sandbox: Args.string({
      completes: 'sandbox:running|port',
      description: 'name, id or BACKEND/NAME; may be left out',
    }),
    port: Args.string({ completes: 'port', description: 'the port' }),
  };
  static flags = { timeout: duration({ summary: 'how long to wait; default: for ever' }) };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const [ref, port] = args.port === undefined ? [undefined, args.sandbox] : [args.sandbox, args.port];
    if (port === undefined) {
      throw new SbxError('usage', 'no port is named', { hint: 'sbx ports wait SANDBOX 3000' });
    }
    const condition = { kind: 'port', port: parsePort(port) } as const;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, ref, call, { verb: 'ports wait' });
    const { having } = await context.backends();
    await waitFor(sandbox, condition, { timeoutMs: this.flags.timeout, having }, call).catch(
      (cause: unknown) => {
        if (!(cause instanceof SbxError) || cause.code !== 'timeout') throw cause;
        const within = formatDuration(this.flags.timeout ?? 0);
        throw new SbxError(
          'timeout',
          `nothing listened on port ${port} in sandbox '${sandbox.name}' within ${within}`,
          {
            hint: `see what does: sbx ports ${sandbox.name}`,
            cause,
          },
        );
      },
    );
    if (this.format === 'table' || this.format === 'wide') return;
    const found = (await listPorts(sandbox, having, call)).find((each) => each.port === condition.port);
    if (found !== undefined) await this.printOne(found, portsView);
  }
}
