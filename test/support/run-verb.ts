/** Runs command classes in this process, with streams in memory. */
import type { CommandTable } from '../../src/lib/cli/command-class.ts';
import { type ContextParts, createContext } from '../../src/lib/cli/context.ts';
import { main } from '../../src/lib/cli/main.ts';
import { type MemoryIoOptions, memoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';

/** What a command left behind. */
export interface VerbResult {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output read as JSON. */
  json(): unknown;
}

/** How to run. */
export interface VerbOptions extends Partial<Omit<ContextParts, 'io'>> {
  readonly io?: MemoryIoOptions;
}

/** Runs `argv` with the commands given by id. */
export async function runVerb(
  commands: CommandTable['commands'],
  argv: readonly string[],
  { io: ioOptions = {}, ...parts }: VerbOptions = {},
): Promise<VerbResult> {
  const io = memoryIo(ioOptions);
  const context = createContext({ io, env: {}, signals: new SignalHub(), ...parts });
  const exit = await main(argv, { root: '/nowhere', commands, aliases: {} }, context);
  return {
    exit,
    stdout: io.stdout.text,
    stderr: io.stderr.text,
    json: () => JSON.parse(io.stdout.text) as unknown,
  };
}
