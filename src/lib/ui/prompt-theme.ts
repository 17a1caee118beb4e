/** How questions look: the library's own theme decides by the wrong stream and knows no `--no-color`. Pure. */
import { paint, type Style } from './color.ts';

/** What the terminal shows. */
export interface PromptLook {
  readonly color: boolean;
  readonly unicode: boolean;
}

/** A theme of @inquirer/prompts; `keys` is the line that says which keys there are. */
export function promptTheme({ color, unicode }: PromptLook, keys: string) {
  const painted = (style: Style) => (text: string) => paint(text, style, color);
  const answer = painted('cyan');
  return {
    prefix: { idle: painted('cyan')('?'), done: painted('green')(unicode ? '✔' : '*') },
    icon: { cursor: unicode ? '❯' : '>' },
    style: {
      answer,
      searchTerm: answer,
      highlight: answer,
      key: answer,
      message: painted('bold'),
      description: painted('dim'),
      disabled: painted('dim'),
      help: painted('dim'),
      defaultAnswer: (text: string) => painted('dim')(`(${text})`),
      error: (text: string) => painted('red')(`! ${text}`),
      keysHelpTip: () => painted('dim')(keys),
    },
  };
}
