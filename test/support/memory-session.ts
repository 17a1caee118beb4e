/** A session in memory: what its program prints and gets is in the hands of the test, and so is the connection. */
import { PassThrough } from 'node:stream';
import type { Call, ChannelEnd, SessionChannel, TerminalSize } from '../../src/lib/backend/contract.ts';
import type { AttachRequest, Dialed } from '../../src/lib/session/attach.ts';
import { DEFAULT_DETACH_KEYS, parseDetachKeys } from '../../src/lib/session/detach-keys.ts';
import type { RawInput } from '../../src/lib/session/raw-mode.ts';

/** One connection to it. */
export interface MemoryChannel extends SessionChannel {
  /** Prints to this connection alone. */
  print(text: string): void;
  /** What has come over it so far. */
  readonly got: string;
  /** Its program reads no more. */
  stall(): void;
  readonly sizes: TerminalSize[];
  readonly redraws: TerminalSize[];
  end(end: ChannelEnd): void;
}

/** The connection from the program's side. */
export function memoryChannel(probe?: (call: Call) => Promise<void>): MemoryChannel {
  const output = new PassThrough();
  const input = new PassThrough();
  let got = '';
  input.on('data', (bytes: Buffer) => {
    got += bytes.toString('latin1');
  });
  const { promise: closed, resolve } = Promise.withResolvers<ChannelEnd>();
  const sizes: TerminalSize[] = [];
  const redraws: TerminalSize[] = [];
  const end = (how: ChannelEnd) => {
    output.end();
    if (output.readableEnded || how.reason !== 'ended') resolve(how);
    else output.once('end', () => resolve(how));
  };
  return {
    output,
    input,
    sizes,
    redraws,
    closed,
    end,
    stall: () => void input.pause(),
    get got() {
      return got;
    },
    print: (text) => void output.write(text, 'latin1'),
    resize: (size) => void sizes.push(size),
    redraw: (size) => void redraws.push(size),
    close: () => end({ reason: 'closed' }),
    ...(probe === undefined ? {} : { probe }),
  };
}

/** A local terminal in memory. */
export interface MemoryTerminal {
  readonly input: RawInput & PassThrough;
  readonly output: PassThrough & { columns: number; rows: number };
  /** Everything that was written to it and taken by it. */
  readonly shown: string;
  /** Whether it takes what is written; it does at first. */
  takes: boolean;
  resize(size: TerminalSize): void;
}

/** A terminal of 80×24. */
export function memoryTerminal(): MemoryTerminal {
  const input: RawInput & PassThrough = Object.assign(new PassThrough(), {
    isRaw: false,
    setRawMode(raw: boolean) {
      this.isRaw = raw;
    },
  });
  const output = Object.assign(new PassThrough({ highWaterMark: 1024 }), { columns: 80, rows: 24 });
  const taken: Buffer[] = [];
  output.on('data', (bytes: Buffer) => void taken.push(bytes));
  return {
    input,
    output,
    get shown() {
      return Buffer.concat(taken).toString('latin1');
    },
    get takes() {
      return !output.isPaused();
    },
    set takes(takes) {
      if (takes) output.resume();
      else output.pause();
    },
    resize({ cols, rows }) {
      Object.assign(output, { columns: cols, rows });
      output.emit('resize');
    },
  };
}

/** A request that dials `channels` one after the other; a missing one, or an error in its place, is a failure to connect. */
export function requestFor(
  channels: readonly (MemoryChannel | Error)[],
  more: Partial<AttachRequest> & { readonly isNew?: boolean } = {},
): AttachRequest & { readonly dialed: TerminalSize[] } {
  const dialed: TerminalSize[] = [];
  const { isNew = false, ...rest } = more;
  return {
    dialed,
    async dial(size): Promise<Dialed> {
      dialed.push(size);
      const channel = channels[dialed.length - 1];
      if (channel === undefined) throw new Error('nothing more to dial');
      if (channel instanceof Error) throw channel;
      return { channel, isNew };
    },
    recording: async () => new Uint8Array(),
    isWhole: async () => true,
    replay: true,
    keys: parseDetachKeys(DEFAULT_DETACH_KEYS),
    readOnly: false,
    giveUpMs: 60_000,
    ...rest,
  };
}
