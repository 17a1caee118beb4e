/** Presses Tab in this process: command lines over memory backends, and what completion makes of them. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import Complete from '../../src/commands/completion/complete.ts';
import Create from '../../src/commands/create.ts';
import type { Backend } from '../../src/lib/backend/contract.ts';
import type { CommandClass } from '../../src/lib/cli/command-class.ts';
import { root } from '../repo/sources.ts';
import { type CommandLine, commandLine, type RunOptions } from './command-line.ts';

/** A command line that completes. */
export interface Completing extends AsyncDisposable {
  readonly line: CommandLine;
  /** What can stand at the cursor, which is at the end of the last word. */
  tab(words: readonly string[], options?: RunOptions): Promise<string[]>;
  /** The same, with the orders to the shell before it. */
  ask(words: readonly string[], options?: RunOptions): Promise<{ orders: string; values: string[] }>;
}

/** @param commands further commands, to make what is to be completed. */
export function completing(
  commands: Readonly<Record<string, CommandClass>> = {},
  backends: readonly Backend[] = [],
): Completing {
  const all = { create: Create, 'completion:complete': Complete, ...commands };
  const line = commandLine({ commands: all, backends });
  // It reads what the build wrote of all commands.
  symlinkSync(join(root, 'dist'), join(line.folder, 'dist'));
  const ask: Completing['ask'] = async (words, options) => {
    const { exit, stdout, stderr } = await line.run(['completion', 'complete', 'fish', ...words], options);
    if (exit !== 0 || stderr !== '') throw new Error(`exit ${exit}, stderr ${JSON.stringify(stderr)}`);
    const [orders = '', ...records] = stdout.split('\0').slice(0, -1);
    return { orders, values: records.map((record) => record.split('\t')[0] ?? '') };
  };
  return {
    line,
    ask,
    tab: async (words, options) => (await ask(words, options)).values,
    [Symbol.asyncDispose]: () => line[Symbol.asyncDispose](),
  };
}
