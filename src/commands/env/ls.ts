import { sandboxArg } from '../../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { type EnvEntry, listEnv } from '../../lib/ops/env.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import type { View } from '../../lib/ui/output.ts';

const view: View<EnvEntry> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    { header: 'VALUE', value: ({ value }) => value, whole: true },
  ],
};

/** Shows the environment of a sandbox. */
export default class EnvLs extends SbxCommand<typeof EnvLs> {
  static summary = "show the variables of a sandbox's environment, with their values";
  static description =
    'These are the variables that every command in the sandbox gets, besides what the system sets. Values are shown as they are; -q prints the names only. --json prints one object of names and values.';
  static examples = ['<%= config.bin %> env ls box', '<%= config.bin %> env ls box --json'];
  static aliases = ['env:list'];
  static args = { sandbox: sandboxArg };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'env ls' });
    const entries = await listEnv(sandbox, (await context.backends()).having, call);
    if (this.format !== 'json' && this.format !== 'yaml')
      return this.print(entries, view).then(() => undefined);
    const all = Object.fromEntries(entries.map(({ name, value }) => [name, value]));
    await this.printOne(all, { name: () => '', columns: [] });
  }
}
