/** The signals that end sbx, as one AbortSignal; a command may take them over to pass them on. */

/** A signal that asks sbx to end. */
export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Who reacts to the ending signals. */
export interface Signals {
  /** Aborted by the first ending signal that nobody took over. */
  readonly signal: AbortSignal;
  /** The ending signal that aborted, once there was one. */
  readonly received: EndingSignal | undefined;
  /**
   * From now until disposed, ending signals call `handler` and abort nothing. The latest taker wins.
   */
  takeOver(handler: (name: EndingSignal) => void): Disposable;
}

/** Signals that a test or a process feeds. */
export class SignalHub implements Signals {
  readonly #controller = new AbortController();
  readonly #takers: ((name: EndingSignal) => void)[] = [];
  #received: EndingSignal | undefined;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get received(): EndingSignal | undefined {
    return this.#received;
  }

  takeOver(handler: (name: EndingSignal) => void): Disposable {
    this.#takers.push(handler);
    return {
      [Symbol.dispose]: () => {
        const at = this.#takers.lastIndexOf(handler);
        if (at >= 0) this.#takers.splice(at, 1);
      },
    };
  }

  /** An ending signal has arrived. @returns whether it is the second that nobody took over: stop at once. */
  deliver(name: EndingSignal): boolean {
    const taker = this.#takers.at(-1);
    if (taker !== undefined) {
      taker(name);
      return false;
    }
    if (this.#received !== undefined) return true;
    this.#received = name;
    this.#controller.abort(new DOMException(`interrupted by ${name}`, 'AbortError'));
    return false;
  }
}

/** 128 + the number of an ending signal. */
export function exitOfSignal(name: EndingSignal): number {
  return { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[name];
}

/** Feeds `hub` from this process. A second signal while the first is being obeyed exits at once. */
export function listenToProcess(hub: SignalHub): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (hub.deliver(name)) process.exit(exitOfSignal(name));
    });
  }
}
