import { need } from '../../lib/backend/need.ts';
import { checkExecSpec } from '../../lib/backend/spec.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { sessionView } from '../../lib/ui/session-view.ts';
import { parseEnvAssignments } from '../../lib/util/env-file.ts';

/** Starts a session without attaching to it. */
export default class SessionsCreate extends SbxCommand<typeof SessionsCreate> {
  static summary = 'start a session without attaching to it, and print its name';
  static description =
    'It runs a login shell, or the command behind --, on a terminal of its own, until that ends or the sandbox stops. Attach to it with sbx shell --session NAME.';
  static examples = [
    '<%= config.bin %> sessions create box build -- make -j4',
    '<%= config.bin %> sessions create box work --workdir /srv',
  ];
  static usage = 'SANDBOX NAME [-- CMD…]';
  static args = {
    sandbox: Args.string({
      required: true,
      completes: 'sandbox:running',
      description: 'name, id or BACKEND/NAME',
    }),
    name: Args.string({
      required: true,
      completes: 'none',
      description: 'letters, digits, ".", "_" and "-", at most 64',
    }),
  };
  static flags = {
    env: Flags.string({
      char: 'e',
      completes: 'none',
      multiple: true,
      helpValue: '<k[=v]>',
      summary: 'environment variable; K alone passes on your own',
    }),
    workdir: Flags.string({
      char: 'w',
      completes: 'path:folder',
      helpValue: '<dir>',
      summary: 'directory to start in',
    }),
    user: Flags.string({
      char: 'u',
      completes: 'none',
      helpValue: '<user>',
      summary: 'user to run it as: name or uid[:gid]',
    }),
  };
  static commandNeedsDashes = true;

  async run(): Promise<undefined> {
    const { context, flags, args } = this;
    const call = { signal: context.signal };
    const [command, ...words] = this.inner;
    if (command === '') throw new SbxError('usage', 'the command is empty');
    const env = parseEnvAssignments(flags.env ?? [], (name) => context.env[name]);
    const { workdir, user } = flags;
    checkExecSpec({ argv: [command ?? 'sh', ...words], env, workdir, user, stdin: 'none' });
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'sessions create' });
    const sessions = need(sandbox, 'sessions', (await context.backends()).having);
    const { columns, rows } = context.io.stdout.stream() as { columns?: number; rows?: number };
    const session = await sessions.create(
      {
        name: args.name,
        argv: command === undefined ? undefined : [command, ...words],
        env,
        workdir,
        user,
        size: columns && rows ? { cols: columns, rows } : undefined,
        term: context.env.TERM,
      },
      call,
    );
    if (this.format === 'table' || this.format === 'name') this.line(session.name);
    else await this.printOne(session, sessionView);
  }
}
