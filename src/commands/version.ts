import { SbxCommand } from '../lib/cli/sbx-command.ts';
import type { View } from '../lib/ui/output.ts';

interface Version {
  readonly version: string;
  readonly node: string;
  readonly platform: string;
}

const view: View<Version> = {
  name: ({ version }) => version,
  columns: [
    { header: 'VERSION', value: ({ version }) => version },
    { header: 'NODE', value: ({ node }) => node },
    { header: 'PLATFORM', value: ({ platform }) => platform },
  ],
};

/** Prints what is running. */
export default class VersionCommand extends SbxCommand<typeof VersionCommand> {
  static summary = 'print the version of sbx and what it runs on';
  static examples = ['<%= config.bin %> version --json'];

  async run(): Promise<undefined> {
    const { version: node, platform, arch } = process;
    await this.printOne({ version: SBX_VERSION, node: node.slice(1), platform: `${platform}-${arch}` }, view);
  }
}
