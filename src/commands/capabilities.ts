import { Args } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { type CapabilityRow, capabilityMatrix } from '../lib/ops/capabilities.ts';
import type { View } from '../lib/ui/output.ts';

function viewOf(types: readonly string[]): View<CapabilityRow> {
  return {
    name: ({ capability }) => capability,
    columns: [
      { header: 'CAPABILITY', value: ({ capability }) => capability, whole: true },
      ...types.map((type) => ({
        header: type.toUpperCase(),
        value: ({ support }: CapabilityRow) => support[type],
      })),
      { header: 'VERBS', value: ({ verbs }) => verbs },
    ],
  };
}

/** Prints what each type of backend can do. */
export default class Capabilities extends SbxCommand<typeof Capabilities> {
  static summary = 'show what each type of backend can do';
  static description =
    "'native' is the backend's own way, 'derived' is made by sbx from exec, and '-' cannot be done there.";
  static args = {
    backend: Args.string({
      completes: 'backend',
      description: 'a configured backend; without it, all types',
    }),
  };
  static examples = ['<%= config.bin %> capabilities', '<%= config.bin %> capabilities local --json'];

  async run(): Promise<undefined> {
    const backends = await this.context.backends();
    const name = this.args.backend ?? this.context.settings.backend;
    const only = name === undefined ? undefined : backends.describe(name);
    const types =
      only === undefined ? backends.types() : backends.types().filter(({ type }) => type === only.type);
    await this.print(capabilityMatrix(types), viewOf(types.map(({ type }) => type)));
  }
}
