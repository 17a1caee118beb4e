import type { SandboxInfo } from '../lib/backend/contract.ts';
import { sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { failureOf, onEach } from '../lib/ops/each.ts';
import { sandboxDetails, sandboxView } from '../lib/ui/sandbox-view.ts';
import { visible } from '../lib/ui/text.ts';

/** Says everything known of sandboxes. */
export default class Info extends SbxCommand<typeof Info> {
  static summary = 'everything known of a sandbox';
  static description = 'Unknown facts are absent. JSON is an object for one sandbox and a list for several.';
  static examples = ['<%= config.bin %> info box', '<%= config.bin %> info box --json'];
  static aliases = ['inspect'];
  static args = { sandbox: sandboxesArg };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const names = this.args.sandbox ?? [];
    const outcomes = await onEach(context, names, { verb: 'info' }, (sandbox) => sandbox.info(call), call);
    const found = outcomes.flatMap(({ value }) => (value === undefined ? [] : [value]));
    const failure = failureOf(outcomes);
    if (outcomes.length > 1) {
      for (const { name, error } of outcomes) {
        if (error !== undefined)
          context.io.stderr.write(`error: ${visible(name)}: ${visible(error.message)}\n`);
      }
    }
    await this.#show(found, outcomes.length === 1);
    if (failure !== undefined) throw failure;
  }

  async #show(found: readonly SandboxInfo[], single: boolean): Promise<void> {
    if (this.format === 'table' || this.format === 'wide') {
      const now = this.context.clock.now();
      this.context.io.stdout.write(found.map((info) => sandboxDetails(info, now)).join('\n'));
      return;
    }
    const [first] = found;
    if (!single) await this.print(found, sandboxView);
    else if (first !== undefined) await this.printOne(first, sandboxView);
  }
}
