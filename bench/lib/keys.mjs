/** How long keys take to come back in a terminal. */

const KEYS = 300;

/**
 * Milliseconds of each key, client by client. In each round every client attaches to the session, which runs `cat`.
 * @param {readonly (() => ReturnType<typeof import('./pty.mjs').openPty>)[]} clients
 * @param {number} rounds
 * @returns {Promise<number[][]>}
 */
export async function keyTimes(clients, rounds) {
  const times = clients.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, open] of clients.entries()) {
      const pty = open();
      await pty.until('\x1b[J');
      const mark = `#${round}${index}#`;
      pty.type(mark);
      await pty.until(mark);
      // The first ones find everything cold.
      for (let key = -20; key < KEYS; key++) {
        const begin = performance.now();
        // Any letter, such that no output of before is taken for it.
        const letter = String.fromCharCode(97 + ((key + 20) % 26));
        pty.type(letter);
        await pty.until(letter);
        if (key >= 0) times[index].push(performance.now() - begin);
        if (key % 50 === 49) {
          pty.type('\x15\r');
          await pty.until('\n');
        }
      }
      await pty.close();
    }
  }
  return times;
}
