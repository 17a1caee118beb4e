/** The preview of one session at a time: its emulated screen, and who fills it. */
import { createEmulator, type Emulator } from './emulator.ts';
import type { Preview, Size } from './screen.ts';

/** The session to show; another key is another session. */
export interface PreviewTarget {
  readonly key: string;
  readonly size: Size | undefined;
}

/** Where the one who follows a session puts what it prints. */
export interface PreviewSink {
  /** What is written next begins on an empty screen. */
  clear(): void;
  write(data: Uint8Array): Promise<void>;
}

/** Fills the sink until the session ends or the signal is aborted. Rejects when it cannot; its message is shown. */
export type Follow<Target> = (target: Target, sink: PreviewSink, signal: AbortSignal) => Promise<void>;

/** The preview of a screen. */
export interface PreviewHolder<Target> extends Disposable {
  /** Shows this one from now on; undefined for none. The same key goes on with what is there. */
  show(target: (PreviewTarget & { readonly of: Target }) | undefined): void;
  picture(crop: Size): Preview;
}

/** Nobody looks at a session that the choice only passes by. */
const REST_MS = 80;

interface Shown extends Disposable {
  readonly key: string;
  size: Size | undefined;
  emulator: Emulator | undefined;
  message: string | undefined;
  /** Whether anything was drawn. */
  drawn: boolean;
}

const DEFAULT_SIZE: Size = { cols: 80, rows: 24 };

/**
 * @param changed called whenever the picture differs.
 * @param explain the text for a failure; throws what is a bug.
 */
export function createPreview<Target>(
  follow: Follow<Target>,
  changed: () => void,
  explain: (error: unknown) => string,
): PreviewHolder<Target> {
  let shown: Shown | undefined;
  let over = false;
  const close = () => {
    shown?.[Symbol.dispose]();
    shown = undefined;
  };
  return {
    show(target) {
      if (over) return;
      if (target?.key !== shown?.key) {
        close();
        if (target !== undefined) shown = open(target, follow, changed, explain);
      }
      if (shown === undefined || target === undefined) return;
      shown.size = target.size;
      if (target.size !== undefined) shown.emulator?.resize(target.size);
    },
    picture(crop) {
      if (shown === undefined) return { lines: [] };
      const { emulator, size, message, drawn } = shown;
      if (emulator === undefined || !drawn) return { lines: [], size, message: message ?? '' };
      const own = { cols: emulator.cols, rows: emulator.rows };
      return { lines: emulator.lines(crop), size: own, ...(message === undefined ? {} : { message }) };
    },
    [Symbol.dispose]() {
      over = true;
      close();
    },
  };
}

function open<Target>(
  { key, size, of }: PreviewTarget & { readonly of: Target },
  follow: Follow<Target>,
  changed: () => void,
  explain: (error: unknown) => string,
): Shown {
  const stop = new AbortController();
  const shown: Shown = {
    key,
    size,
    emulator: undefined,
    message: undefined,
    drawn: false,
    [Symbol.dispose]() {
      stop.abort();
      clearTimeout(rest);
      shown.emulator?.[Symbol.dispose]();
      shown.emulator = undefined;
    },
  };
  const run = async () => {
    const { cols, rows } = shown.size ?? DEFAULT_SIZE;
    const emulator = await createEmulator(cols, rows);
    if (stop.signal.aborted) {
      emulator[Symbol.dispose]();
      return;
    }
    shown.emulator = emulator;
    const sink: PreviewSink = {
      clear() {
        if (!stop.signal.aborted) emulator.clear();
      },
      async write(data) {
        if (stop.signal.aborted) return;
        await emulator.write(data);
        shown.drawn = true;
        if (!stop.signal.aborted) changed();
      },
    };
    await follow(of, sink, stop.signal);
    shown.drawn = true;
    changed();
  };
  const rest = setTimeout(() => {
    run().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      shown.message = explain(error);
      changed();
    });
  }, REST_MS);
  return shown;
}
