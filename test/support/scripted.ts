/** A person who answers questions as a script says. */
import type { Prompter } from '../../src/lib/cli/prompts.ts';

/** A question as it was asked. */
export interface Asked {
  readonly message: string;
  readonly flag: string;
  /** `NAME: DESCRIPTION` each. */
  readonly choices?: readonly string[];
}

/** The script: for a choice its name, for a text the text, for a confirmation yes or no; `leave` is Ctrl-C. */
export type Answer = string | boolean | typeof leave;
export const leave = Symbol('Ctrl-C');

/** Answers one question after the other, and remembers them. An answer that `check` refuses is followed by the next. */
export function scripted(
  ...answers: readonly Answer[]
): Prompter & { readonly asked: Asked[]; readonly refused: string[] } {
  const left = [...answers];
  const asked: Asked[] = [];
  const refused: string[] = [];
  const next = (question: Asked) => {
    asked.push(question);
    const answer = left.shift();
    if (answer === undefined) throw new Error(`nobody answers: ${question.message}`);
    if (answer === leave) throw new DOMException('the question was not answered', 'AbortError');
    return answer;
  };
  return {
    asked,
    refused,
    canAsk: true,
    async confirm({ message, flag }) {
      return next({ message, flag }) === true;
    },
    async select({ message, flag, choices }) {
      const shown = choices.map(({ name, description }) =>
        description === undefined ? name : `${name}: ${description}`,
      );
      const answer = next({ message, flag, choices: shown });
      const found = choices.find(({ name }) => name === answer);
      if (found === undefined) throw new Error(`${String(answer)} is not among ${shown.join('; ')}`);
      return found.value;
    },
    async input({ message, flag, check }) {
      for (;;) {
        const text = String(next({ message, flag }));
        const problem = await check?.(text);
        if (problem === undefined) return text;
        refused.push(problem);
      }
    },
  };
}
