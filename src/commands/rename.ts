import { need } from '../lib/backend/need.ts';
import { checkName } from '../lib/backend/spec.ts';
import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { Args } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { problemOf, SbxError } from '../lib/errors.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';

/** Gives a sandbox another name. */
export default class Rename extends SbxCommand<typeof Rename> {
  static summary = 'give a sandbox another name';
  static examples = ['<%= config.bin %> rename box web'];
  static args = {
    sandbox: sandboxArg,
    name: Args.string({ completes: 'none', description: 'its new name; left out: asked for' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const given = args.name === undefined ? undefined : checkName(args.name, 'the new name');
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, args.sandbox, call, {
      verb: 'rename',
      rest: 'NEW-NAME',
      states: ['running', 'paused', 'stopped'],
    });
    const rename = need(sandbox, 'rename', having);
    const name = given ?? (await this.#ask(sandbox.name));
    await rename(name, call);
    if (this.format === 'table' || this.format === 'name') this.line(name);
    else await this.printOne(await sandbox.info(call), sandboxView);
  }

  async #ask(present: string): Promise<string> {
    const prompter = await this.context.prompter();
    if (!prompter.canAsk)
      throw new SbxError('usage', 'the new name is missing', { hint: `sbx rename ${present} NEW-NAME` });
    return prompter.input({
      message: `New name of '${present}':`,
      flag: 'its new name',
      check: (text) => problemOf(() => checkName(text, 'the new name')),
    });
  }
}
