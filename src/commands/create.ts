import { createFlags, createSpecFromFlags } from '../lib/cli/create-flags.ts';
import { createTools } from '../lib/cli/create-tools.ts';
import { Args } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { createSandbox } from '../lib/ops/create.ts';
import { backendOf, splitRef } from '../lib/ops/resolve-sandbox.ts';
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
    'the sandbox is removed again.',
  ].join(' ');
  static examples = [
    '<%= config.bin %> create',
    '<%= config.bin %> create web --env PORT=3000 --wait port:3000 -- node server.js',
    '<%= config.bin %> create --repo https://github.com/nodejs/examples#main --setup "npm ci"',
    '<%= config.bin %> create ci --if-not-exists --size 2vcpu-4gb --ttl 1h',
  ];
  static args = { name: Args.string({ description: 'its name, or BACKEND/NAME; left out: one is made up' }) };
  static flags = createFlags;
  static usage = '[NAME] [-- CMD…]';
  static commandNeedsDashes = true;

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const ref = this.args.name === undefined ? undefined : splitRef(this.args.name);
    const request = await createSpecFromFlags(this.flags, context, { name: ref?.name, command: this.inner });
    const backend = await backendOf(context, { backend: ref?.backend, name: ref?.name ?? '' });
    const { sandbox } = await createSandbox(backend, request, await createTools(context), call);
    if (this.format === 'table' || this.format === 'name') this.line(visible(sandbox.name));
    else await this.printOne(await sandbox.info(call), sandboxView);
  }
}
