import type { Sandbox } from '../../lib/backend/contract.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { selfCommand } from '../../lib/cli/self.ts';
import { backgroundArgs, backgroundEnv } from '../../lib/ops/forward/background-args.ts';
import { type PlannedForward, planForward } from '../../lib/ops/forward/plan.ts';
import { checkForwardId, newForwardId } from '../../lib/ops/forward/records.ts';
import { runForward } from '../../lib/ops/forward/run.ts';
import { type EstablishedForward, forwardText, hostPort } from '../../lib/ops/forward/types.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { backgroundView } from '../../lib/ui/forward-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Forwards ports between this machine and a sandbox. */
export default class Forward extends SbxCommand<typeof Forward> {
  static summary = 'forward ports of this machine to a sandbox, or back';
  static description =
    'SPEC is PORT, LOCAL:REMOTE, :REMOTE (any free local port) or ADDRESS:LOCAL:REMOTE; ports may be lists (80,443) and ranges (8000-8010). A bare PORT that is taken on this machine moves to the next free one. The local port stands first with --reverse too.\n\nIt listens on 127.0.0.1 unless told otherwise, runs until Ctrl-C (exit 0), and exits 1 when the sandbox is removed or stops.';
  static usage = '[SANDBOX] [SPEC…]';
  static aliases = ['port-forward', 'tunnel'];
  static examples = [
    '<%= config.bin %> forward box 8080:3000',
    '<%= config.bin %> forward box --all',
    '<%= config.bin %> forward box --reverse 5432',
    '<%= config.bin %> forward box --unix ./db.sock:5432',
    '<%= config.bin %> forward box 3000 --background',
  ];
  static args = {
    // One list: the parser takes no optional argument before it, and a sandbox may be left out.
    spec: Args.string({
      multiple: true,
      completes: 'sandbox:running|port then port',
      description: 'a sandbox (name, id or BACKEND/NAME), then what to forward',
    }),
  };
  static flags = {
    reverse: Flags.boolean({ summary: 'listen in the sandbox and connect to this machine' }),
    unix: Flags.string({
      multiple: true,
      completes: 'file',
      helpValue: '<path:port>',
      summary: 'listen on a Unix socket of this machine',
    }),
    all: Flags.boolean({ summary: 'forward whatever listens in the sandbox, as it comes and goes' }),
    address: Flags.string({
      completes: 'none',
      helpValue: '<ip>',
      summary: 'address of this machine to use instead of 127.0.0.1',
    }),
    background: Flags.boolean({ summary: 'return once it listens and leave it running; see forward ls' }),
    'background-id': Flags.string({ completes: 'none', hidden: true }),
  };

  async run(): Promise<undefined> {
    const { context, flags, args } = this;
    const planned = planForward({ ...flags, words: args.spec ?? [] });
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, planned.sandbox, call, { verb: 'forward' });
    const id = flags['background-id'];
    if (flags.background && id === undefined) await this.#start(sandbox, planned);
    else await this.#run(sandbox, planned, id === undefined ? undefined : checkForwardId(id));
  }

  /** Runs until an ending signal, which is the normal end of a forward. */
  async #run(sandbox: Sandbox, { plan }: PlannedForward, id: string | undefined): Promise<void> {
    const { logger, clock, paths, signals } = this.context;
    const { having } = await this.context.backends();
    const end = new AbortController();
    using _ = signals.takeOver(() => end.abort());
    const notice = (line: string) => logger.info(visible(line));
    if (id !== undefined) {
      const { runKept } = await import('../../lib/ops/forward/kept.ts');
      const kept = { state: paths.state, id, pid: process.pid, now: clock.now, having, log: notice };
      return await runKept(sandbox, plan, kept, end);
    }
    const hooks = {
      established: (forward: EstablishedForward) => this.#announce(forward),
      closed: () => undefined,
      notice,
      debug: (line: string) => logger.debug(visible(line)),
    };
    await runForward(sandbox, plan, { having, hooks, ready: () => undefined }, end);
  }

  async #start(sandbox: Sandbox, planned: PlannedForward): Promise<void> {
    const { context } = this;
    const { startBackground } = await import('../../lib/ops/forward/background.ts');
    const id = newForwardId();
    const command = selfCommand();
    command.push(...backgroundArgs(sandbox, planned, id));
    const env = backgroundEnv(context.env);
    const options = { state: context.paths.state, id, command, env };
    const started = await startBackground(options, { signal: context.signal });
    if (this.format === 'table' || this.format === 'wide') {
      for (const forward of started.forwards) context.logger.info(visible(forwardText(forward)));
      context.logger.info(`to end it: sbx forward stop ${id}`);
      this.line(id);
    } else if (this.wantsJson) this.line(JSON.stringify(backgroundView.data?.(started)));
    else await this.printOne(started, backgroundView);
  }

  #announce(forward: EstablishedForward): void {
    if (this.wantsJson || this.format === 'yaml') this.line(JSON.stringify(forward));
    else if (this.format !== 'name') this.context.logger.info(visible(forwardText(forward)));
    else this.line(visible(forward.path ?? hostPort(forward.address ?? '', forward.port ?? 0)));
  }
}
