/** What the scripts in completions/ get to read: a line of orders and the candidates, as each shell wants them. */
import { truncate, visible, width } from '../../ui/text.ts';
import {
  isPlain,
  readBashWord,
  readFishWord,
  writeBashWord,
  writePowerShellWord,
} from '../../util/typed-words.ts';
import type { Candidate } from './candidates.ts';

/** The shells that there are scripts for. */
export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** All that was found for the word at the cursor. */
export interface Answer {
  readonly candidates: readonly Candidate[];
  /** The shell adds paths of this machine. */
  readonly local?: 'files' | 'folders' | undefined;
  /** What stands in the same word before the path or name, such as `--env-file=`. */
  readonly before: string;
  /** The shell completes the words from that one on as a command of its own. */
  readonly innerAt?: number | undefined;
}

/** How a shell and we talk. */
export interface Dialect {
  /** The words up to the cursor that its script handed over, without quotes. */
  readonly words: readonly string[];
  /** What its script reads. */
  write(answer: Answer): string;
}

/** Reads what a script says. */
export function dialectOf(shell: Shell, said: readonly string[]): Dialect {
  if (shell === 'bash') return bash(said);
  if (shell === 'powershell') return powerShell(said);
  const raw = said.at(-1) ?? '';
  if (shell === 'zsh') return { words: said, write: zsh };
  return { words: [...said.slice(0, -1), readFishWord(raw)], write: fish };
}

/** NUL is the one sign that no word can hold. */
const records = (list: readonly string[]) => list.map((each) => `${each}\0`).join('');

function orders({ candidates, local, innerAt }: Answer): string {
  return [
    ...(candidates.some(({ goesOn }) => goesOn) ? ['goes-on'] : []),
    ...(local === undefined ? [] : [local]),
    ...(innerAt === undefined ? [] : [`inner ${innerAt}`]),
  ].join(' ');
}

/**
 * bash puts a candidate in place of the end of the word, from the last quote or the last of its word breaks on. Its
 * script says that end first, then the words with their quotes.
 */
function bash([end = '', ...raw]: readonly string[]): Dialect {
  const last = raw.at(-1) ?? '';
  const kept = readBashWord(last.endsWith(end) ? last.slice(0, last.length - end.length) : last);
  const typed = readBashWord(last);
  return {
    words: [...raw.slice(0, -1), last].map((word) => readBashWord(word).text),
    write: (answer) => {
      const candidates = answer.candidates.filter(
        ({ value }) => value.startsWith(typed.text) && value.startsWith(kept.text),
      );
      return records([
        orders({ ...answer, candidates }),
        ...candidates.map(({ value }) => writeBashWord(value.slice(kept.text.length), kept.open)),
      ]);
    },
  };
}

/** zsh matches and quotes by itself. Each candidate has its look and a mark beside it. */
function zsh(answer: Answer): string {
  const shown = answer.candidates.filter(({ value }) => isPlain(value));
  const column = Math.min(40, Math.max(0, ...shown.map(({ value }) => width(visible(value)))));
  return records([
    orders(answer),
    ...shown.flatMap(({ value, description, goesOn }) => {
      const name = visible(value);
      const gap = ' '.repeat(Math.max(0, column - width(name)));
      const look = description === undefined ? name : `${name}${gap}  -- ${oneLine(description)}`;
      return [value, look, goesOn ? '+' : ''];
    }),
  ]);
}

/** fish matches and quotes by itself, and takes a tab for the end of the name. */
function fish(answer: Answer): string {
  return records([
    orders(answer),
    ...answer.candidates
      .filter(({ value }) => isPlain(value))
      .map(({ value, description }) =>
        description === undefined ? value : `${value}\t${oneLine(description)}`,
      ),
  ]);
}

/** PowerShell hands over the words as JSON in base64, because some versions of it drop or split words. */
function powerShell([encoded = '']: readonly string[]): Dialect {
  const words: unknown = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'));
  const typed = Array.isArray(words) ? words.map(String) : [];
  return {
    words: typed,
    write: (answer) => {
      const items = answer.candidates
        .filter(({ value }) => value.startsWith(typed.at(-1) ?? ''))
        .map(({ value, description }) => ({
          text: writePowerShellWord(value),
          look: visible(value),
          tip: oneLine(description ?? value),
        }));
      const { local = '', before, innerAt = -1 } = answer;
      return `${ascii(JSON.stringify({ items, local, before, inner: innerAt }))}\n`;
    },
  };
}

/** For consoles that do not read UTF-8. */
function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const MOST_CELLS = 80;

function oneLine(description: string): string {
  return truncate(visible(description), MOST_CELLS);
}
