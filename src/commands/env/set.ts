import { environment } from '../../lib/cli/create-flags.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { parseSettings, setEnv } from '../../lib/ops/env.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';

/** Sets variables of a sandbox's environment. */
export default class EnvSet extends SbxCommand<typeof EnvSet> {
  static summary = "set variables of a sandbox's environment";
  static description =
    'Commands that start from now on get them; those that run keep what they have. K alone takes the value from your own environment, which keeps secrets off the command line. An env file has one K=V a line, taken as it is to the end of the line (no quotes, no expansion), or K alone; lines that start with # are skipped.';
  static examples = [
    '<%= config.bin %> env set box MODE=test LANG=C.UTF-8',
    '<%= config.bin %> env set box API_TOKEN',
    '<%= config.bin %> env set box --env-file .env',
  ];
  static usage = '[SANDBOX] K=V…';
  static args = {
    sandbox: Args.string({
      required: true,
      completes: 'sandbox',
      description: 'name, id or BACKEND/NAME; may be left out before K=V',
    }),
    variable: Args.string({
      multiple: true,
      completes: 'variable|local-variable',
      description: 'K=V, or K for your own value',
    }),
  };
  static flags = {
    'env-file': Flags.string({
      multiple: true,
      completes: 'file',
      helpValue: '<file>',
      summary: 'file with one K=V a line',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags, args } = this;
    // No name of a sandbox has an equals sign.
    const named = args.sandbox?.includes('=') !== true;
    const items = [...(named || args.sandbox === undefined ? [] : [args.sandbox]), ...(args.variable ?? [])];
    const variables = {
      ...(await environment({ env: undefined, 'env-file': flags['env-file'] }, context)),
      ...parseSettings(items, (name) => context.env[name]),
    };
    if (Object.keys(variables).length === 0) {
      throw new SbxError('usage', 'no variable is given', {
        hint: `sbx env set ${args.sandbox ?? 'SANDBOX'} K=V`,
      });
    }
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, named ? args.sandbox : undefined, call, {
      verb: 'env set',
    });
    await setEnv(sandbox, variables, (await context.backends()).having, call);
    if (this.format === 'table' || this.format === 'wide') return;
    const names = Object.keys(variables).sort();
    await this.printOne(
      { name: sandbox.name, backend: sandbox.backend, set: names },
      { name: ({ name }) => name, columns: [] },
    );
  }
}
