import { printOutcomes } from '../lib/cli/each-sandbox.ts';
import { Args, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
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
  static usage = 'SANDBOX PROCESS…';
  static args = {
    sandbox: Args.string({ required: true, description: 'name, id or BACKEND/NAME' }),
    process: Args.string({ multiple: true, description: 'ids or names, as sbx ps shows them' }),
  };
  static flags = {
    signal: Flags.string({
      char: 's',
      default: 'TERM',
      helpValue: '<signal>',
      summary: 'its name or number',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags, args } = this;
    const refs = args.process ?? [];
    refuseDash([args.sandbox ?? '', ...refs]);
    const signal = parseSignal(flags.signal);
    if (refs.length === 0) {
      throw new SbxError('usage', 'name the sandbox and the process', {
        hint: `sbx kill ${args.sandbox ?? 'SANDBOX'} PROCESS`,
      });
    }
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'kill' });
    const { having } = await context.backends();
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
