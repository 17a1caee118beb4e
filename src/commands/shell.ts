import type { Sandbox } from '../lib/backend/contract.ts';
import { need } from '../lib/backend/need.ts';
import { Args, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { printOutcome, sessionFlags, sessionRequest, tellOutcome } from '../lib/cli/session-flags.ts';
import { SbxError } from '../lib/errors.ts';
import { execute } from '../lib/ops/exec.ts';
import { LOGIN_SHELL } from '../lib/ops/login-shell.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { argvOf, attachSession, MAIN_SESSION, refuseNoTerminal } from '../lib/ops/shell.ts';

/** Attaches the terminal to a session of a sandbox. */
export default class Shell extends SbxCommand<typeof Shell> {
  static summary = 'work in a shell in a sandbox that goes on without you';
  static description =
    "Attaches to the session 'main', which is made where it is missing, unless it is only to be watched. Closing the window or losing the network only detaches; coming back shows what was printed. Ctrl-P Ctrl-Q leaves, and so does ~. after Enter, also out of a dead connection; ~? helps. A lost connection is dialed again, and keys typed meanwhile are kept.\n\nExit codes: the shell's own when it ended, 0 when it was left, 254 when a lost connection was given up or the sandbox was stopped, 255 when there was none.";
  static examples = [
    '<%= config.bin %> shell box',
    '<%= config.bin %> shell box --session build --command "make -j4"',
    '<%= config.bin %> shell box --read-only',
  ];
  static aliases = ['ssh', 'connect', 'attach'];
  static args = {
    sandbox: Args.string({ completes: 'sandbox:running', description: 'name, id or BACKEND/NAME' }),
  };
  static flags = {
    session: Flags.string({
      default: MAIN_SESSION,
      completes: 'session:running',
      helpValue: '<name>',
      summary: 'the session',
    }),
    command: Flags.string({
      completes: 'none',
      exclusive: ['read-only'],
      helpValue: '<text>',
      summary: 'text for /bin/sh that a new session runs instead of a login shell',
    }),
    ...sessionFlags,
  };
  static ownFailureExit = 255;

  async run(): Promise<number> {
    const { context, flags, args } = this;
    const { session, command } = flags;
    const request = { ...sessionRequest(flags, context), session, command, create: true };
    refuseNoTerminal(context, args.sandbox);
    const sandbox = await resolveSandbox(
      context,
      args.sandbox,
      { signal: context.signal },
      { verb: 'shell' },
    );
    const { sessions } = sandbox.can;
    if (sessions === undefined)
      return await this.#plainShell(sandbox, `backend '${sandbox.backend}' keeps no sessions`);
    try {
      const outcome = await attachSession(sandbox, sessions, request, context);
      await printOutcome(outcome, sandbox, session, this);
      return tellOutcome(outcome, sandbox, session, context, this.wantsJson);
    } catch (error) {
      if (!(error instanceof SbxError) || error.code !== 'unsupported') throw error;
      const hint = error.hint === undefined ? '' : `; ${error.hint}`;
      return await this.#plainShell(sandbox, `${error.message}${hint}`);
    }
  }

  /** A shell that ends with its client, where nothing better can be had. */
  async #plainShell(sandbox: Sandbox, why: string): Promise<number> {
    const { context, flags } = this;
    if (flags['read-only'] || flags['take-over']) {
      throw new SbxError('unsupported', `there is nothing to attach to: ${why}`, {
        backend: sandbox.backend,
      });
    }
    need(sandbox, 'terminal', (await context.backends()).having);
    context.logger.warn(`this shell will not survive its connection: ${why}`);
    const request = {
      argv: argvOf(flags.command) ?? LOGIN_SHELL,
      stdin: true,
      terminal: { term: context.env.TERM },
    };
    return (await execute(sandbox, request, context)).exitCode;
  }
}
