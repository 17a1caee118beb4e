import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { unsetConfig } from '../../lib/ops/config.ts';

/** Removes one setting. */
export default class ConfigUnset extends SbxCommand<typeof ConfigUnset> {
  static summary = 'remove one setting from the config file';
  static args = {
    key: Args.string({ required: true, completes: 'setting', description: 'such as defaults.memory' }),
  };
  static examples = ['<%= config.bin %> config unset defaults.memory'];

  async run(): Promise<undefined> {
    const { key } = this.args;
    await changeConfig(this.context, (config) => unsetConfig(config, key));
    await this.printOne(
      { key },
      { name: (gone) => gone.key, columns: [{ header: 'UNSET', value: (gone) => gone.key }] },
    );
  }
}
