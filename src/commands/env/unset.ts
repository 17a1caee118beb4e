import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { unsetEnv } from '../../lib/ops/env.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';

/** Takes variables out of a sandbox's environment. */
export default class EnvUnset extends SbxCommand<typeof EnvUnset> {
  static summary = "take variables out of a sandbox's environment";
  static description =
    'Commands that start from now on no longer get them. When one of them is not set nothing is changed and the exit code is 3.';
  static examples = ['<%= config.bin %> env unset box MODE LANG'];
  static usage = 'SANDBOX NAME…';
  static args = {
    sandbox: Args.string({ required: true, completes: 'sandbox', description: 'name, id or BACKEND/NAME' }),
    variable: Args.string({ multiple: true, completes: 'variable', description: 'names' }),
  };
  static flags = {
    'ignore-missing': Flags.boolean({ summary: 'a name that is not set is no error' }),
  };

  async run(): Promise<undefined> {
    const { context, flags, args } = this;
    const names = args.variable ?? [];
    if (names.length === 0) {
      throw new SbxError('usage', 'name the sandbox and the variables', {
        hint: `sbx env unset ${args.sandbox ?? 'SANDBOX'} NAME`,
      });
    }
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'env unset' });
    const { having } = await context.backends();
    await unsetEnv(sandbox, names, { having, ignoreMissing: flags['ignore-missing'] }, call);
    if (this.format === 'table' || this.format === 'wide') return;
    await this.printOne(
      { name: sandbox.name, backend: sandbox.backend, unset: names },
      { name: ({ name }) => name, columns: [] },
    );
  }
}
