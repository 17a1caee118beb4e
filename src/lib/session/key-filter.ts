/** Finds the keys that are for us among those that are for the session. */
import type { DetachKeys } from './detach-keys.ts';
import { keyAt, type TypedKey } from './typed-key.ts';

/** What a person typed. */
export type Typed =
  | { readonly kind: 'keys'; readonly bytes: Uint8Array }
  | { readonly kind: 'leave' }
  | { readonly kind: 'help' };

/** Splits what is typed. */
export interface KeyFilter {
  /** In the order in which it was typed. A key that may begin one of our sequences waits for the next one. */
  feed(chunk: Uint8Array): Typed[];
  /** Whether a beginning of the detach sequence waits. A `~` does not count: it may wait for ever, as with ssh. */
  readonly waits: boolean;
  /** Gives back the beginning that waits, which is then no beginning any more. */
  release(): Uint8Array;
}

const TILDE = 0x7e;
const DOT = 0x2e;
const QUESTION_MARK = 0x3f;
const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';

/** `isDown` tells whether the connection is lost: then `~.` leaves wherever it is typed, whatever the keys are set to. */
export function createKeyFilter(keys: DetachKeys, isDown: () => boolean = () => false): KeyFilter {
  const { sequence } = keys;
  let waiting: { readonly byte: number; readonly raw: number[] }[] = [];
  let tilde: number[] | undefined;
  let tildeBegins = false;
  let lineStart = true;
  let passed: number[] = [];
  let typed: Typed[] = [];
  const isPaste = followPastes();

  const flush = () => {
    if (passed.length > 0) typed.push({ kind: 'keys', bytes: Uint8Array.from(passed) });
    passed = [];
  };
  const say = (kind: 'leave' | 'help') => {
    flush();
    typed.push({ kind });
  };
  const pass = (raw: Iterable<number>) => {
    for (const byte of raw) passed.push(byte);
  };
  const giveUp = () => {
    if (tilde !== undefined) pass(tilde);
    tilde = undefined;
    for (const { raw } of waiting) pass(raw);
    waiting = [];
  };

  /** The key after `~`. @returns whether it was for us */
  const afterTilde = (byte: TypedKey['byte'], held: number[]): boolean => {
    tilde = undefined;
    if (byte === DOT) say('leave');
    else if (byte === TILDE && tildeBegins) pass(held);
    else if (byte === QUESTION_MARK && tildeBegins) say('help');
    else {
      pass(held);
      return false;
    }
    lineStart = byte === QUESTION_MARK;
    return true;
  };

  const take = ({ byte }: TypedKey, raw: Uint8Array) => {
    if (byte === 'quiet') {
      const target = tilde ?? waiting.at(-1)?.raw ?? passed;
      for (const each of raw) target.push(each);
      return;
    }
    if (tilde !== undefined && afterTilde(byte, tilde)) return;
    if (byte === TILDE && (isDown() || (lineStart && keys.tilde))) {
      giveUp();
      tilde = [...raw];
      tildeBegins = lineStart;
      lineStart = false;
      return;
    }
    lineStart = byte === 0x0d || byte === 0x0a;
    waiting.push({ byte: byte ?? -1, raw: [...raw] });
    while (waiting.some((key, index) => key.byte !== sequence[index])) pass(waiting.shift()?.raw ?? []);
    if (waiting.length === 0 || waiting.length < sequence.length) return;
    waiting = [];
    say('leave');
  };

  return {
    get waits() {
      return waiting.length > 0;
    },
    release() {
      const bytes = Uint8Array.from(waiting.flatMap(({ raw }) => raw));
      waiting = [];
      return bytes;
    },
    feed(chunk) {
      typed = [];
      for (let at = 0; at < chunk.length; ) {
        const key = keyAt(chunk, at);
        const raw = chunk.subarray(at, at + key.length);
        at += key.length;
        if (isPaste(raw)) {
          giveUp();
          pass(raw);
          lineStart = false;
        } else take(key, raw);
      }
      flush();
      return typed;
    },
  };
}

/** Tells of every key whether it belongs to a bracketed paste: what is pasted is never meant for us. */
function followPastes(): (raw: Uint8Array) => boolean {
  let inside = false;
  let mark = '';
  return (raw) => {
    for (const byte of raw) {
      const expected = inside ? PASTE_END : PASTE_START;
      mark =
        expected.charCodeAt(mark.length) === byte
          ? mark + String.fromCharCode(byte)
          : byte === 0x1b
            ? '\x1b'
            : '';
      if (mark !== expected) continue;
      inside = !inside;
      mark = '';
      return true;
    }
    return inside;
  };
}
