import { type Backends, LOCAL } from '../../lib/backend/registry.ts';
import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { askForBackend } from '../../lib/ops/ask-for-backend.ts';
import { withoutBackend } from '../../lib/ops/backends.ts';
import { readConfig } from '../../lib/store/config.ts';
import { visible } from '../../lib/ui/text.ts';

/** Removes a backend from the configuration. */
export default class BackendRm extends SbxCommand<typeof BackendRm> {
  static summary = 'remove a backend from the configuration';
  static description = 'Its sandboxes stay as they are; sbx only does not know the way to them any more.';
  static args = {
    name: Args.string({
      completes: 'backend',
      description: 'a configured backend; left out: asked for on a terminal',
    }),
  };
  static aliases = ['backend:remove', 'backend:delete'];
  static examples = ['<%= config.bin %> backend rm prod --yes'];

  async run(): Promise<undefined> {
    const name = this.args.name ?? (await askForBackend(this.context, 'backend rm', removable));
    const folder = this.context.paths.config;
    // Asked only about something that can be removed.
    withoutBackend(readConfig(folder), name);
    if (!(await this.confirm(`Remove backend '${visible(name)}' from the configuration?`))) {
      throw new SbxError('failed', `backend '${name}' was not removed`);
    }
    await changeConfig(this.context, (config) => withoutBackend(config, name));
    await this.printOne(
      { name },
      { name: (gone) => gone.name, columns: [{ header: 'REMOVED', value: (gone) => gone.name }] },
    );
  }
}

/** The backend of this machine is always there. */
function removable(backends: Backends): string[] {
  return backends.names().filter((name) => name !== LOCAL);
}
