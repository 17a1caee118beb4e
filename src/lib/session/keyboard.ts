/** Listens to the keys of the local terminal: ours are told, the session's go into its queue. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DetachKeys } from './detach-keys.ts';
import { createKeyFilter } from './key-filter.ts';
import type { RawInput } from './raw-mode.ts';

/** Milliseconds that a beginning of the detach sequence waits for its next key before it goes to the session. */
export const SEQUENCE_DUE = 500;

/** What is done with keys. */
export interface KeyboardEvents {
  readonly onKeys: (bytes: Uint8Array) => void;
  readonly onLeave: () => void;
  readonly onHelp: () => void;
  /** The terminal is not there any more. */
  readonly onGone: () => void;
  readonly isDown: () => boolean;
}

/** Listens until it is disposed. */
export function listenToKeyboard(input: RawInput, keys: DetachKeys, events: KeyboardEvents): Disposable {
  const filter = createKeyFilter(keys, events.isDown);
  let timer: NodeJS.Timeout | undefined;
  const overdue = async () => {
    // The next key may have come while this process was busy.
    await nextTurn();
    if (timer === undefined) return;
    timer = undefined;
    events.onKeys(filter.release());
  };
  const onData = (chunk: Uint8Array) => {
    clearTimeout(timer);
    timer = undefined;
    for (const typed of filter.feed(chunk)) {
      if (typed.kind === 'keys') events.onKeys(typed.bytes);
      else if (typed.kind === 'help') events.onHelp();
      else return events.onLeave();
    }
    if (filter.waits) timer = setTimeout(overdue, SEQUENCE_DUE);
  };
  input.on('data', onData);
  input.on('end', events.onGone);
  input.on('close', events.onGone);
  input.resume();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      timer = undefined;
      input.off('data', onData);
      input.off('end', events.onGone);
      input.off('close', events.onGone);
      input.pause();
    },
  };
}
