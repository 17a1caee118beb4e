import type { Sandbox } from '../lib/backend/contract.ts';
import { type EachRow, printOutcomes, sandboxesArg } from '../lib/cli/each-sandbox.ts';
import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import type { Outcome } from '../lib/ops/each.ts';
import { findRemovals, type Removal, removeEach } from '../lib/ops/remove.ts';
import { countOf } from '../lib/ui/names.ts';

/** Removes sandboxes. */
export default class Rm extends SbxCommand<typeof Rm> {
  static summary = 'remove sandboxes, their processes and their files';
  static description =
    'Asks before it removes one that runs, one that is not named, or all; --force or --yes answers. With --force a sandbox that is not there is no error.';
  static examples = [
    '<%= config.bin %> rm box',
    '<%= config.bin %> rm --force box-a box-b',
    '<%= config.bin %> rm --all --yes',
  ];
  static aliases = ['remove', 'delete'];
  static args = { sandbox: sandboxesArg };
  static flags = {
    force: Flags.boolean({ char: 'f', summary: 'also those that run, without asking' }),
    // Its own variable: SBX_ALL is there for ls, and must not remove anything.
    all: Flags.boolean({ char: 'a', env: 'SBX_RM_ALL', summary: 'all sandboxes of the backend' }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const names = this.args.sandbox ?? [];
    if (flags.all && names.length > 0)
      throw new SbxError('usage', '--all and names do not go together', { hint: 'sbx rm --all' });
    const found = await findRemovals(context, { names, all: flags.all }, call);
    const risky = found.flatMap(({ value }) =>
      value !== undefined && (names.length === 0 || value.running) ? [value] : [],
    );
    if (!flags.force && !context.settings.yes && risky.length > 0) await this.#ask(risky);
    const outcomes = await removeEach(context, found, { force: flags.force }, call);
    await printOutcomes(this, outcomes.map(withRow));
  }

  async #ask(risky: readonly Removal[]): Promise<void> {
    const what = countOf(
      risky.map(({ sandbox }) => sandbox.name),
      'sandbox',
      'sandboxes',
    );
    const message = `Remove ${what} with all files${risky.some(({ running }) => running) ? ' and processes' : ''}?`;
    const yes = await (await this.context.prompter()).confirm({ message, flag: '--force' });
    if (!yes) throw new SbxError('failed', 'nothing was removed');
  }
}

function withRow(outcome: Outcome<Sandbox | undefined>): Outcome<EachRow | undefined> {
  if (outcome.value === undefined) return outcome;
  const { name, id, backend } = outcome.value;
  return { name: outcome.name, value: { name, id, backend, done: 'removed' } };
}
