/** What is asked of a command while it runs, and what follows from it for its end: the same whatever way the lines go. */
import type { Running, SignalName } from './contract.ts';

/** After one of these the end of the command is the end of what it left behind: background jobs of a shell ignore INT. */
const ENDING: readonly SignalName[] = ['INT', 'TERM', 'HUP', 'QUIT'];
const LEFTOVER_GRACE_MS = 5000;

/** The way to the watcher of a command: lines of guest/exec-watch.sh. */
export interface WatchLine {
  say(line: string): Promise<void>;
  /** {@link say} of a line that has an answer, which {@link gone} waits for. */
  ask(line: string): Promise<void>;
  readonly gone: () => Promise<void>;
}

export interface ExecSignals extends Pick<Running, 'signal' | 'terminate'> {
  /** Those that were sent, or caused. */
  readonly sent: ReadonlySet<string>;
  /** Something was done that makes the kernel send one. */
  caused(name: SignalName): void;
  /** To be called when the command has ended: resolves when what had to end with it is gone. */
  leftoversGone(): Promise<void>;
  /** All is over: nothing is said any more. */
  close(): void;
}

export function execSignals({ say, ask, gone }: WatchLine): ExecSignals {
  const sent = new Set<string>();
  let asked = false;
  let terminating = false;
  let over = false;
  const terminate = async (graceMs: number) => {
    if (over) return;
    terminating = true;
    if (graceMs > 0) sent.add('TERM');
    sent.add('KILL');
    await ask(`terminate ${Math.ceil(graceMs / 100)}`);
  };
  return {
    sent,
    caused: (name) => void sent.add(name),
    async signal(name) {
      sent.add(name);
      asked ||= ENDING.includes(name);
      if (!over) await say(name);
    },
    terminate,
    async leftoversGone() {
      // What the command started may take its time after it; the grace is theirs too.
      if (asked && !terminating) await terminate(LEFTOVER_GRACE_MS);
      if (terminating) await gone();
    },
    close() {
      over = true;
    },
  };
}
