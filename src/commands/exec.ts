import type { ExecSpec, Sandbox } from '../lib/backend/contract.ts';
import { need } from '../lib/backend/need.ts';
import { checkExecSpec } from '../lib/backend/spec.ts';
import { commandOf, execFlags, refuseMissingTerminal, wantsTerminal } from '../lib/cli/exec-flags.ts';
import { Args, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { execute, refuseLongTimeout } from '../lib/ops/exec.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { parseEnvAssignments } from '../lib/util/env-file.ts';
import { quoteArgv } from '../lib/util/shell-quote.ts';

/** Runs a command in a sandbox. */
export default class Exec extends SbxCommand<typeof Exec> {
  static summary = 'run a command in a sandbox';
  static description =
    'The command gets its words as they are, and its output arrives apart and byte for byte. Standard input is forwarded with -i only, so a surrounding "while read" loop keeps its lines. INT, TERM, HUP and QUIT reach the command; a second Ctrl-C within 2 seconds kills it.\n\nExit codes: the command\'s own, 128+n when signal n ended it, 124 after --timeout, 126 when it cannot be run, 127 when it is not found, 125 when sbx or the backend failed.';
  static examples = [
    '<%= config.bin %> exec box ls -la',
    "printf 'b\\na\\n' | <%= config.bin %> exec -i box -- sort",
    "<%= config.bin %> exec --shell 'make test | tee log' box",
    '<%= config.bin %> exec -d box -- python3 -m http.server',
  ];
  static args = {
    sandbox: Args.string({ completes: 'sandbox:running', description: 'name, id or BACKEND/NAME' }),
  };
  static flags = {
    ...execFlags,
    detach: Flags.boolean({
      char: 'd',
      summary: 'start it in the background and print its process id',
      exclusive: ['interactive', 'terminal', 'timeout'],
    }),
    env: Flags.string({
      char: 'e',
      multiple: true,
      completes: 'local-variable',
      helpValue: '<k[=v]>',
      summary: 'environment variable; K alone passes on your own',
    }),
    'env-file': Flags.string({
      multiple: true,
      completes: 'file',
      helpValue: '<file>',
      summary: 'file with one K=V a line',
    }),
    workdir: Flags.string({
      char: 'w',
      completes: 'path:folder',
      helpValue: '<dir>',
      summary: 'directory to run it in',
    }),
    user: Flags.string({
      char: 'u',
      completes: 'none',
      helpValue: '<user>',
      summary: 'user to run it as: name or uid[:gid]',
    }),
    session: Flags.string({
      completes: 'session:running',
      helpValue: '<name>',
      summary: 'run it in the directory where this session is now, and in the environment that it began with',
    }),
  };
  static strictCommandArgument = 1;
  static ownFailureExit = 125;

  async run(): Promise<number> {
    const { context, flags } = this;
    const argv = commandOf(flags, this.inner, 'sbx exec SANDBOX -- CMD…');
    refuseMissingTerminal(flags, context.io);
    const { workdir, user } = flags;
    const { stdin: _, ...given } = checkExecSpec({
      argv,
      env: await this.#env(),
      workdir,
      user,
      stdin: 'none',
    });
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, {
      verb: 'exec',
      rest: `-- ${quoteArgv(argv)}`,
    });
    const spec = flags.session === undefined ? given : await this.#inSession(sandbox, flags.session, given);
    if (flags.detach) return await this.#detach(sandbox, spec);
    const { timeout: timeoutMs } = flags;
    if (timeoutMs !== undefined) {
      const { manifest } = await (await context.backends()).get(sandbox.backend);
      refuseLongTimeout(timeoutMs, manifest, sandbox.backend);
    }
    const collect = this.wantsJson || this.format === 'yaml';
    const terminal = wantsTerminal(flags, context.io, sandbox, collect);
    if (terminal) need(sandbox, 'terminal', (await context.backends()).having);
    const request = {
      ...spec,
      stdin: flags.interactive,
      terminal: terminal ? { term: context.env.TERM } : undefined,
      timeoutMs,
    };
    if (!collect) return (await execute(sandbox, request, context)).exitCode;
    const { executeAndCollect } = await import('../lib/ops/exec-collect.ts');
    const { collectedView } = await import('../lib/cli/exec-view.ts');
    const collected = await executeAndCollect(sandbox, request, context);
    await this.printOne(collected, collectedView);
    return collected.exitCode;
  }

  async #detach(sandbox: Sandbox, spec: Omit<ExecSpec, 'stdin'>): Promise<number> {
    const { context } = this;
    const processes = need(sandbox, 'processes', (await context.backends()).having);
    const started = await processes.start(spec, { signal: context.signal });
    const { startedView } = await import('../lib/cli/exec-view.ts');
    if (this.format === 'table') this.line(started.id);
    else await this.printOne(started, startedView);
    const code = started.exit !== undefined && 'code' in started.exit ? started.exit.code : 0;
    if (code !== 126 && code !== 127) return 0;
    context.logger.warn(
      `the command could not be started; see: sbx logs ${sandbox.name} --process ${started.id}`,
    );
    return code;
  }

  async #inSession<S extends Pick<ExecSpec, 'env' | 'workdir'>>(
    sandbox: Sandbox,
    name: string,
    spec: S,
  ): Promise<S> {
    const { inSession } = await import('../lib/ops/sessions.ts');
    const { having } = await this.context.backends();
    return await inSession(sandbox, name, spec, having, { signal: this.context.signal });
  }

  async #env(): Promise<Record<string, string>> {
    const { context, flags } = this;
    if (flags['env-file'] === undefined)
      return parseEnvAssignments(flags.env ?? [], (name) => context.env[name]);
    const { environment } = await import('../lib/cli/create-flags.ts');
    return await environment(flags, context);
  }
}
