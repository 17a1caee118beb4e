import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { SbxError } from '../../lib/errors.ts';
import { withoutBackend } from '../../lib/ops/backends.ts';
import { readConfig } from '../../lib/store/config.ts';

/** Removes a backend from the configuration. */
export default class BackendRm extends SbxCommand<typeof BackendRm> {
  static summary = 'remove a backend from the configuration';
  static description = 'Its sandboxes stay as they are; sbx only does not know the way to them any more.';
  static args = { name: Args.string({ required: true, description: 'a configured backend' }) };
  static aliases = ['backend:remove', 'backend:delete'];
  static examples = ['<%= config.bin %> backend rm prod --yes'];

  async run(): Promise<undefined> {
    const { name } = this.args;
    const folder = this.context.paths.config;
    // Asked only about something that can be removed.
    withoutBackend(readConfig(folder), name);
    if (!(await this.confirm(`Remove backend '${name}' from the configuration?`))) {
      throw new SbxError('failed', `backend '${name}' was not removed`);
    }
    await changeConfig(this.context, (config) => withoutBackend(config, name));
    await this.printOne(
      { name },
      { name: (gone) => gone.name, columns: [{ header: 'REMOVED', value: (gone) => gone.name }] },
    );
  }
}
