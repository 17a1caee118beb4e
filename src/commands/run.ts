import { refuseMissing } from '../lib/backend/need.ts';
import { createFlags, createSpecFromFlags } from '../lib/cli/create-flags.ts';
import { createTools } from '../lib/cli/create-tools.ts';
import { commandOf, execFlags, refuseMissingTerminal, wantsTerminal } from '../lib/cli/exec-flags.ts';
import { Flags } from '../lib/cli/flags.ts';
import { startProgress } from '../lib/cli/progress.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { execute, refuseLongTimeout } from '../lib/ops/exec.ts';
import { runOnce } from '../lib/ops/run.ts';
import { visible } from '../lib/ui/text.ts';

const { 'if-not-exists': _, ...flagsOfCreate } = createFlags;

/** Runs a command in a sandbox of its own. */
export default class Run extends SbxCommand<typeof Run> {
  static summary = 'make a sandbox, run a command in it, and remove it again';
  static description =
    'The sandbox is removed whatever happens: when the command fails, on Ctrl-C, on SIGTERM and when the time is up.\n\nExit codes: as with exec.';
  static examples = [
    '<%= config.bin %> run -- uname -a',
    '<%= config.bin %> run --repo . --setup "npm ci" --timeout 10m -- npm test',
    "<%= config.bin %> run --network none --shell 'curl -m 2 example.com || echo no network'",
  ];
  static usage = '[--] CMD…';
  static flags = {
    ...flagsOfCreate,
    ...execFlags,
    keep: Flags.boolean({ summary: 'keep the sandbox, and print its name on stderr' }),
  };
  static strictCommandArgument = 0;
  static ownFailureExit = 125;

  async run(): Promise<number> {
    const { context, flags } = this;
    const argv = commandOf(flags, this.inner, 'sbx run -- CMD…');
    refuseMissingTerminal(flags, context.io);
    const create = await createSpecFromFlags(flags, context);
    const backends = await context.backends();
    const backend = await backends.get(context.settings.backend);
    if (flags.terminal) refuseMissing(backend, 'terminal', backends.having);
    refuseLongTimeout(flags.timeout, backend.manifest, backend.name);
    const collect = this.wantsJson || this.format === 'yaml';
    using progress = startProgress(this);
    return await runOnce(backend, context, {
      create,
      tools: await createTools(context, progress),
      keep: flags.keep,
      tell: (line) => context.io.stderr.write(`${visible(line)}\n`),
      act: async (sandbox, host) => {
        // From here on the terminal is the command's.
        progress.end();
        const terminal = wantsTerminal(flags, context.io, sandbox, collect);
        const request = {
          argv,
          stdin: flags.interactive,
          terminal: terminal ? { term: context.env.TERM } : undefined,
          timeoutMs: flags.timeout,
          mustEnd: true,
        };
        if (!collect) return (await execute(sandbox, request, host)).exitCode;
        const { executeAndCollect } = await import('../lib/ops/exec-collect.ts');
        const { collectedView } = await import('../lib/cli/exec-view.ts');
        const collected = await executeAndCollect(sandbox, request, host);
        await this.printOne(collected, collectedView);
        return collected.exitCode;
      },
    });
  }
}
