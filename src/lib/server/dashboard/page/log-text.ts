/** What a process printed, as text to read: without the codes that colour it and move the cursor. */

const CODE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/g;
/** A code that may go on in the next piece; no longer than any that means something. */
const BEGUN = /\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[ -/]*)$/;
const LONGEST = 4096;

/** @returns a function that takes the next piece and gives what there is to read of it. */
export function logReader(): (piece: string) => string {
  let rest = '';
  return (piece) => {
    const text = rest + piece;
    const at = text.search(BEGUN);
    const cut = at < 0 || text.length - at > LONGEST ? text.length : at;
    rest = text.slice(cut);
    return text
      .slice(0, cut)
      .replace(CODE, '')
      .replace(/\r+\n/g, '\n')
      .replace(/[^\P{Cc}\n\t]/gu, '');
  };
}

/** The end of `text` that is at most `limit` long, from the beginning of a line. */
export function endOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(-limit);
  return end.slice(end.indexOf('\n') + 1);
}
