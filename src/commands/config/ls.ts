import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { listConfig } from '../../lib/ops/config.ts';
import { readConfig } from '../../lib/store/config.ts';
import { configView } from '../../lib/ui/config-view.ts';

/** Lists the settings of the config file. */
export default class ConfigLs extends SbxCommand<typeof ConfigLs> {
  static summary = 'list the settings of the config file';
  static description = 'Secrets that stand in the file are not shown.';
  static aliases = ['config:list'];
  static examples = ['<%= config.bin %> config ls', '<%= config.bin %> config ls --json'];

  async run(): Promise<undefined> {
    const backends = await this.context.backends();
    await this.print(listConfig(readConfig(this.context.paths.config), backends.types()), configView);
  }
}
