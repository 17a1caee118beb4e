import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { askForBackend } from '../../lib/ops/ask-for-backend.ts';
import { withDefault } from '../../lib/ops/backends.ts';

/** Chooses the default backend. */
export default class BackendUse extends SbxCommand<typeof BackendUse> {
  static summary = 'choose the default backend';
  static args = {
    name: Args.string({
      completes: 'backend',
      description: 'a configured backend; left out: asked for on a terminal',
    }),
  };
  static examples = ['<%= config.bin %> backend use prod'];

  async run(): Promise<undefined> {
    const name = this.args.name ?? (await askForBackend(this.context, 'backend use'));
    await changeConfig(this.context, (config) => withDefault(config, name));
    await this.printOne(
      { name },
      { name: (used) => used.name, columns: [{ header: 'DEFAULT', value: (used) => used.name }] },
    );
  }
}
