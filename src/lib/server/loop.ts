/** Calls `act` again and again, never twice at once, and so seldom that it takes no more than a twentieth of the time. */
export function loop(
  what: string,
  ms: number,
  act: () => Promise<unknown>,
  notice: (line: string) => void,
): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout;
  let acting = Promise.resolve();
  const round = async () => {
    const started = performance.now();
    try {
      await act();
    } catch (error) {
      if (!stopped) notice(`cannot ${what}: ${(error as Error).message}`);
    }
    if (!stopped) next(Math.max(ms, (performance.now() - started) * 19));
  };
  const next = (pause: number) => {
    timer = setTimeout(() => {
      acting = round();
    }, pause);
  };
  next(ms);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await acting;
    },
  };
}
