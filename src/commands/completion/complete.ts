import { appendFileSync } from 'node:fs';
import { dialectOf, SHELLS } from '../../lib/cli/completion/answer.ts';
import type { World } from '../../lib/cli/completion/asked.ts';
import { complete } from '../../lib/cli/completion/complete.ts';
import { choicesOf } from '../../lib/cli/completion/facts.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { parseDuration } from '../../lib/util/duration.ts';

/** What has not answered by then has no names. */
const PATIENCE = '300ms';

/** Answers the script of a shell. Whatever happens, it says nothing on stderr and exits with 0. */
export default class CompletionComplete extends SbxCommand<typeof CompletionComplete> {
  static summary = 'what can stand at the cursor, for the scripts of the shells';
  static description =
    "Takes a shell and the words up to the cursor, and prints what that shell's script reads. What has not answered in 300ms, or the time in SBX_COMPLETION_TIMEOUT, has no names. With SBX_COMPLETION_LOG set to a file, what goes wrong is written there.";
  static examples = ["<%= config.bin %> completion complete zsh exec ''"];
  static hidden = true;
  static raw = true;

  async run(): Promise<number> {
    const { context } = this;
    // Nothing may stand between a person and the prompt.
    context.settings.quiet = true;
    try {
      const patience = parseDuration(context.env.SBX_COMPLETION_TIMEOUT || PATIENCE);
      const late = new AbortController();
      using _ = context.clock.later(patience, () => late.abort(new Error('it took too long')));
      context.io.stdout.write(await this.#answer(late.signal));
    } catch (error) {
      this.#note(error);
    }
    context.leave?.();
    return 0;
  }

  async #answer(signal: AbortSignal): Promise<string> {
    const { context } = this;
    const [name, ...said] = this.inner;
    const shell = SHELLS.find((each) => each === name);
    if (shell === undefined) throw new Error(`there is no script for ${name}`);
    const { words, write } = dialectOf(shell, said);
    const openWorld = (backend: string | undefined): World => {
      const chosen = backend ?? (context.env.SBX_BACKEND || undefined);
      context.settings.backend = chosen;
      return {
        env: context.env,
        paths: context.paths,
        chosen,
        call: { signal },
        backends: () => context.backends(),
        note: (error) => this.#note(error),
      };
    };
    return write(await complete(words, choicesOf(this.table), openWorld));
  }

  #note(error: unknown): void {
    const log = this.context.env.SBX_COMPLETION_LOG;
    if (log === undefined || log === '') return;
    const text = error instanceof Error ? error.stack : String(error);
    try {
      appendFileSync(log, `${JSON.stringify(this.inner)}: ${text}\n`, { mode: 0o600 });
    } catch {
      // There is nobody to tell: this must not reach the prompt either.
      return;
    }
  }
}
