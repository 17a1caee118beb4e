import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { getConfig, type NewValue, setConfig } from '../../lib/ops/config.ts';
import { configView } from '../../lib/ui/config-view.ts';

/** Changes one setting. */
export default class ConfigSet extends SbxCommand<typeof ConfigSet> {
  static summary = 'change one setting of the config file';
  static description =
    'KEY is `backend` (the default), `defaults.FLAG` (the value of a flag that is not given) or `backends.NAME.OPTION`. ' +
    'A flag on the command line wins over its environment variable, which wins over the config file.';
  static args = {
    key: Args.string({ required: true, completes: 'setting', description: 'what to change' }),
    value: Args.string({ completes: 'none', description: 'the new value' }),
  };
  static flags = {
    'from-env': Flags.string({
      completes: 'local-variable',
      summary: 'take the value from this environment variable each time; for secrets',
      helpValue: '<variable>',
    }),
  };
  static examples = [
    '<%= config.bin %> config set defaults.memory 1g',
    '<%= config.bin %> config set backends.prod.token --from-env PROD_TOKEN',
  ];

  async run(): Promise<undefined> {
    const { key } = this.args;
    const value = this.#value();
    const types = (await this.context.backends()).types();
    const config = await changeConfig(this.context, (present) => setConfig(present, key, value, types));
    await this.printOne(getConfig(config, key, types), configView);
  }

  #value(): NewValue {
    const { value } = this.args;
    const env = this.flags['from-env'];
    if (value !== undefined && env !== undefined)
      throw new SbxError('usage', 'give a value or --from-env, not both');
    if (env !== undefined) return { env };
    if (value !== undefined) return { text: value };
    throw new SbxError('usage', 'there is no value', { hint: `sbx config set ${this.args.key} VALUE` });
  }
}
