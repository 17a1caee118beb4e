/** The process around `main`: arguments in, exit code out. The only caller of the real streams and signals. */
import type { CommandTable } from './command-class.ts';
import { processContext } from './context.ts';
import { main } from './main.ts';

/** Runs the command line of this process. Sets the exit code rather than exiting, so that output is flushed. */
export async function start(table: CommandTable): Promise<void> {
  const context = processContext();
  process.exitCode = await main(process.argv.slice(2), table, context);
  context.io.stdin.release();
}
