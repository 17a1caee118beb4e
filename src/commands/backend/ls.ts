import { Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { type BackendSummary, listBackends } from '../../lib/ops/backends.ts';
import type { View } from '../../lib/ui/output.ts';
import { statusStyle } from '../../lib/ui/status.ts';

function viewOf(checked: boolean): View<BackendSummary> {
  return {
    name: ({ name }) => name,
    columns: [
      { header: 'NAME', value: ({ name }) => name, whole: true },
      { header: 'TYPE', value: ({ type }) => type },
      { header: 'DEFAULT', value: (backend) => (backend.default ? 'yes' : undefined) },
      ...(checked
        ? [
            {
              header: 'STATUS',
              value: ({ status }: BackendSummary) => status,
              style: ({ status }: BackendSummary) => statusStyle(status),
            },
            { header: 'PROBLEM', value: ({ problem }: BackendSummary) => problem },
          ]
        : []),
      { header: 'TITLE', value: ({ title }) => title, wide: true },
    ],
  };
}

/** Lists the configured backends. */
export default class BackendLs extends SbxCommand<typeof BackendLs> {
  static summary = 'list the configured backends';
  static description = "The backend 'local' is this machine and needs no configuration.";
  static aliases = ['backend:list'];
  static flags = { check: Flags.boolean({ summary: 'also ask each whether it works' }) };
  static examples = ['<%= config.bin %> backend ls', '<%= config.bin %> backend ls --check --json'];

  async run(): Promise<undefined> {
    const { check } = this.flags;
    const call = { signal: this.context.signal };
    await this.print(await listBackends(await this.context.backends(), check, call), viewOf(check));
  }
}
