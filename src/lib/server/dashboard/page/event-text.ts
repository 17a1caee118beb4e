/** Server-sent events out of the text of an answer, which comes in any pieces. */

/** @returns a function that takes the next piece and gives the events that are whole by then. */
export function eventReader<Event>(): (piece: string) => Event[] {
  let rest = '';
  return (piece) => {
    const parts = (rest + piece).split('\n\n');
    rest = parts.pop() ?? '';
    return parts.filter((part) => part.startsWith('data: ')).map((part) => JSON.parse(part.slice(6)));
  };
}
