/** Takes a command line apart as a POSIX shell would, as far as that needs no shell. */
import { SbxError } from '../errors.ts';

const WORD = /\s*((?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+)/gy;
const PIECE = /\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"\\]+)/g;

/** The words of a line. @throws SbxError `usage` for an open quote and for what only a shell can do */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let end = 0;
  WORD.lastIndex = 0;
  for (let match = WORD.exec(line); match !== null; match = WORD.exec(line)) {
    words.push((match[1] ?? '').replace(PIECE, unquoted));
    end = WORD.lastIndex;
  }
  if (line.slice(end).trim() !== '')
    throw new SbxError('usage', 'a quote is not closed, or the line ends in \\');
  return words;
}

function unquoted(_: string, escaped?: string, single?: string, double?: string, bare?: string): string {
  if (escaped !== undefined) return escaped;
  if (single !== undefined) return single;
  const shell =
    double === undefined ? /[$`|&;<>()*?[\]~]/.exec(bare ?? '') : /[$`]/.exec(double.replace(/\\./gs, ''));
  if (shell !== null) {
    throw new SbxError('usage', `no shell reads this line: ${shell[0]} has to stand in single quotes`);
  }
  return double === undefined ? (bare ?? '') : double.replace(/\\([$`"\\\n])/g, '$1');
}
