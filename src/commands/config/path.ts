import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { configPath } from '../../lib/store/config.ts';
import type { View } from '../../lib/ui/output.ts';

interface Place {
  readonly path: string;
  readonly state: string;
}

const view: View<Place> = {
  name: ({ path }) => path,
  columns: [
    { header: 'CONFIG', value: ({ path }) => path, whole: true },
    { header: 'STATE', value: ({ state }) => state, wide: true, whole: true },
  ],
};

/** Prints where the configuration is. */
export default class ConfigPath extends SbxCommand<typeof ConfigPath> {
  static summary = 'print the path of the config file';
  static description =
    'The file need not exist. SBX_CONFIG_DIR and SBX_STATE_DIR, or the XDG variables, choose the folders.';
  static examples = ['<%= config.bin %> config path', 'cat "$(<%= config.bin %> config path)"'];

  async run(): Promise<undefined> {
    const { config, state } = this.context.paths;
    const path = configPath(config);
    if (this.format === 'table') this.line(path);
    else await this.printOne({ path, state }, view);
  }
}
