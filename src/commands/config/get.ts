import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { getConfig } from '../../lib/ops/config.ts';
import { readConfig } from '../../lib/store/config.ts';
import { configView, settingText } from '../../lib/ui/config-view.ts';
import { visible } from '../../lib/ui/text.ts';

/** Prints one setting. */
export default class ConfigGet extends SbxCommand<typeof ConfigGet> {
  static summary = 'print one setting of the config file';
  static args = {
    key: Args.string({
      required: true,
      completes: 'setting',
      description: 'such as backend or defaults.memory',
    }),
  };
  static examples = ['<%= config.bin %> config get backend', '<%= config.bin %> config get defaults.memory'];

  async run(): Promise<undefined> {
    const backends = await this.context.backends();
    const entry = getConfig(readConfig(this.context.paths.config), this.args.key, backends.types());
    if (this.format === 'table') this.line(visible(settingText(entry)));
    else await this.printOne(entry, configView);
  }
}
