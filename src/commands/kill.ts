import { printOutcomes } from '../lib/cli/each-sandbox.ts';
import { Args, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { askForProcess } from '../lib/ops/ask-for-process.ts';
import { killProcesses, parseSignal } from '../lib/ops/processes.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';

/** Sends a signal to background processes. */
export default class Kill extends SbxCommand<typeof Kill> {
  static summary = 'send a signal to background processes of a sandbox';
  static description =
    'The signal goes to the process and its group. Signals that end or hold (TERM, KILL, INT, QUIT, ABRT, STOP, CONT) also reach what it started in other groups. Exit codes: 3 when there is no such process, 1 when it has ended.';
  static examples = [
    '<%= config.bin %> kill box main',
    '<%= config.bin %> kill box 1a2b3c4d -s HUP',
    '<%= config.bin %> kill box web worker --signal KILL',
  ];
  static usage = '[SANDBOX] [PROCESS…]';
  static args = {
    process: Args.string({
      multiple: true,
      completes: 'sandbox:running then process:running',
      description:
        'the sandbox, then ids or names of its processes as sbx ps shows them; left out: asked for',
    }),
  };
  static flags = {
    signal: Flags.string({
      char: 's',
      default: 'TERM',
      completes: 'signal',
      helpValue: '<signal>',
      summary: 'its name or number',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const words = this.args.process ?? [];
    refuseDash(words);
    const [ref, ...processes] = words;
    const signal = parseSignal(flags.signal);
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, ref, call, { verb: 'kill', rest: 'PROCESS' });
    const { having } = await context.backends();
    const refs =
      processes.length > 0
        ? processes
        : [(await askForProcess(context, sandbox, { verb: 'kill', having }, call)).id];
    const outcomes = await killProcesses(sandbox, { refs, signal, having }, call);
    await printOutcomes(
      this,
      outcomes.map((outcome) => {
        if (outcome.error !== undefined) return outcome;
        return {
          name: outcome.name,
          value: { name: outcome.name, backend: sandbox.backend, done: `sent ${signal}` },
        };
      }),
    );
  }
}

/** `kill -9` as the shell's own has it: a number with a dash is no flag to the parser. */
function refuseDash(words: readonly string[]): void {
  const found = words.find((word) => /^-\d+$/.test(word));
  if (found === undefined) return;
  throw new SbxError('usage', `${found} names no sandbox and no process`, {
    hint: `sbx kill SANDBOX PROCESS -s ${found.slice(1)}`,
  });
}
