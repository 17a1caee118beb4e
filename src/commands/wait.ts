import type { SandboxState } from '../lib/backend/contract.ts';
import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { duration, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { parseWaitCondition, waitFor, waitText } from '../lib/ops/wait.ts';
import type { View } from '../lib/ui/output.ts';

interface Waited {
  readonly name: string;
  readonly backend: string;
  readonly condition: string;
}

const view: View<Waited> = {
  name: ({ name }) => name,
  columns: [{ header: 'NAME', value: ({ name }) => name }],
};

/** Waits for something to hold of a sandbox. */
export default class Wait extends SbxCommand<typeof Wait> {
  static summary = 'wait until a sandbox runs or stops, a port listens or a process ends';
  static description =
    'Prints nothing; exit 0 once it holds, 1 when the time is up or it cannot come true any more. A sandbox that is removed meanwhile counts as stopped.';
  static examples = [
    '<%= config.bin %> wait box --for port:3000 --timeout 30s',
    '<%= config.bin %> wait box --for process:main',
    '<%= config.bin %> wait box',
  ];
  static args = { sandbox: sandboxArg };
  static flags = {
    for: Flags.string({
      default: 'stopped',
      completes: 'condition',
      helpValue: '<condition>',
      summary: 'running, stopped, port:N or process:ID',
    }),
    timeout: duration({ char: 't', summary: 'how long to wait; left out: for ever' }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const condition = parseWaitCondition(flags.for, '--for');
    const { having } = await context.backends();
    const states: readonly SandboxState[] =
      condition.kind === 'running' ? ['creating', 'paused', 'stopped'] : ['running'];
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'wait', states });
    await waitFor(sandbox, condition, { timeoutMs: flags.timeout, having }, call);
    if (this.format === 'table' || this.format === 'wide' || this.format === 'name') return;
    await this.printOne(
      { name: sandbox.name, backend: sandbox.backend, condition: waitText(condition) },
      view,
    );
  }
}
