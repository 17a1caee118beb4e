import { applyFlags, type Context } from '../lib/cli/context.ts';
import { createFlags, createSpecFromFlags } from '../lib/cli/create-flags.ts';
import { createTools } from '../lib/cli/create-tools.ts';
import { Args } from '../lib/cli/flags.ts';
import { parseInput, splitFor } from '../lib/cli/parse.ts';
import { startProgress } from '../lib/cli/progress.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { type CreateRequest, createSandbox } from '../lib/ops/create.ts';
import { backendOf, type SandboxRef, splitRef } from '../lib/ops/resolve-sandbox.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';
import { visible } from '../lib/ui/text.ts';

/** Makes a sandbox that runs. */
export default class Create extends SbxCommand<typeof Create> {
  static summary = 'make a sandbox, and print its name';
  static description = [
    'The command after -- is its main process: sbx logs shows its output, and it runs again at each start.',
    '--repo clones into the workdir, which must be empty. A path or file:// URL is a repository on this machine:',
    'its commits are sent in, what is not committed is not. A user name and password in an http(s) URL are used for',
    'the clone and not kept. Then the --setup commands run there, in order. When a step fails, or Ctrl-C ends it,',
    'the sandbox is removed again.\n\nWith nothing given on a terminal it asks, and shows the command that the answers',
    'come to; --yes takes the defaults.',
  ].join(' ');
  static examples = [
    '<%= config.bin %> create',
    '<%= config.bin %> create web --env PORT=3000 --wait port:3000 -- node server.js',
    '<%= config.bin %> create --repo https://github.com/nodejs/examples#main --setup "npm ci"',
    '<%= config.bin %> create ci --if-not-exists --size 2vcpu-4gb --ttl 1h',
  ];
  static args = {
    name: Args.string({
      completes: 'none',
      description: 'its name, or BACKEND/NAME; left out: one is made up',
    }),
  };
  static flags = createFlags;
  static usage = '[NAME] [-- CMD…]';
  static commandNeedsDashes = true;

  async run(): Promise<undefined> {
    const { context } = this;
    const asks = this.isBare && !context.settings.yes && (await context.prompter()).canAsk;
    if (!asks) return this.#make();
    const { askForCreate } = await import('../lib/cli/create-questions.ts');
    const words = await askForCreate(context, async (each) => (await parsed(context, each)).#request());
    const command = await parsed(context, words);
    const { settings } = context;
    const { color, debug } = settings;
    applyFlags(command.flags, settings);
    settings.color ??= color;
    settings.debug ||= debug;
    return command.#make();
  }

  async #make(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const { ref, request } = await this.#request();
    const backend = await backendOf(context, { backend: ref?.backend, name: ref?.name ?? '' });
    using progress = startProgress(this);
    const { sandbox, existed } = await createSandbox(
      backend,
      request,
      await createTools(context, progress),
      call,
    );
    progress.end(existed ? undefined : `created '${sandbox.name}'`);
    if (this.format === 'table' || this.format === 'name') this.line(visible(sandbox.name));
    else await this.printOne(await sandbox.info(call), sandboxView);
  }

  async #request(): Promise<{ readonly ref: SandboxRef | undefined; readonly request: CreateRequest }> {
    const ref = this.args.name === undefined ? undefined : splitRef(this.args.name);
    const words = { name: ref?.name, command: this.inner };
    return { ref, request: await createSpecFromFlags(this.flags, this.context, words) };
  }
}

/** The command that these words behind `sbx create` stand for. @throws SbxError `usage` */
async function parsed(context: Context, words: readonly string[]): Promise<Create> {
  const split = splitFor(Create, words);
  if (split.help) throw new SbxError('usage', '--help makes no sandbox', { hint: 'sbx create --help' });
  return new Create(context, await parseInput(Create, 'create', split, context.env, context.flagDefaults));
}
