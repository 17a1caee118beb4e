/**
 * Several byte streams and a dialogue over one connection: frames of a header (kind as one byte, length as 32 bits,
 * big-endian) and that many bytes. Kind 0 is a message, as JSON; 1 is credit; all others are streams, a number each. A
 * stream's frame without bytes is its end. Frames of a kind that nobody asked for are skipped.
 *
 * Each stream has a window: so many bytes may be on their way that the other end has not given credit for. A stream that
 * nobody reads holds up neither the others nor the messages. docs/protocol.md has what is said over it.
 */

export const MESSAGE = 0;
export const CREDIT = 1;

/** Bytes of each stream that may be sent before any credit has come. */
export const WINDOW = 1024 * 1024;

const HEADER = 5;
/** Longest message: a command line may be long. */
const MESSAGE_LIMIT = 8 * 1024 * 1024;
/** Most bytes of a stream's frame; writers split what is longer. */
export const FRAME_LIMIT = 256 * 1024;
const CREDIT_LENGTH = 5;

/** The other end does not speak frames, or breaks their rules. */
export class MalformedFrame extends Error {}

/** The header of a frame of `length` bytes. */
export function frameHeader(kind: number, length: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(length, 1);
  return header;
}

/** A whole frame that holds a message. @throws MalformedFrame for one that the other end would not take. */
export function messageFrame(message: object): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  if (text.length > MESSAGE_LIMIT) throw new MalformedFrame(`a message of ${text.length} bytes is too long`);
  return Buffer.concat([frameHeader(MESSAGE, text.length), text]);
}

/** A whole frame that lets the other end send `bytes` more of a stream. */
export function creditFrame(stream: number, bytes: number): Buffer {
  const payload = Buffer.alloc(CREDIT_LENGTH);
  payload.writeUInt8(stream, 0);
  payload.writeUInt32BE(bytes, 1);
  return Buffer.concat([frameHeader(CREDIT, CREDIT_LENGTH), payload]);
}

/** What a parser tells. */
export interface FrameEvents {
  message(message: Readonly<Record<string, unknown>>): void;
  credit(stream: number, bytes: number): void;
  /** A piece of a stream, as a view of what was given to the parser. */
  data(stream: number, piece: Buffer): void;
  end(stream: number): void;
}

/** Takes the next bytes of a connection. Throws {@link MalformedFrame} when they cannot be frames. */
export type FrameParser = (chunk: Buffer) => void;

export function frameParser(events: FrameEvents): FrameParser {
  const header = Buffer.alloc(HEADER);
  let filled = 0;
  let kind = 0;
  let left = 0;
  /** Of a message or credit, which are of use whole only. */
  let gathered: Buffer[] = [];
  const begin = () => {
    kind = header.readUInt8(0);
    left = header.readUInt32BE(1);
    if (left > (kind === MESSAGE ? MESSAGE_LIMIT : FRAME_LIMIT))
      throw new MalformedFrame(`a frame of ${left} bytes is too long`);
    if (left > 0) return;
    filled = 0;
    if (kind <= CREDIT) throw new MalformedFrame('an empty message');
    events.end(kind);
  };
  const take = (piece: Buffer) => {
    left -= piece.length;
    if (left === 0) filled = 0;
    if (kind > CREDIT) return events.data(kind, piece);
    gathered.push(piece);
    if (left > 0) return;
    const whole = Buffer.concat(gathered);
    gathered = [];
    if (kind === MESSAGE) return events.message(messageOf(whole));
    if (whole.length !== CREDIT_LENGTH) throw new MalformedFrame('a credit of another length');
    events.credit(whole.readUInt8(0), whole.readUInt32BE(1));
  };
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (filled < HEADER) {
        const taken = chunk.copy(header, filled, at, at + HEADER - filled);
        filled += taken;
        at += taken;
        if (filled === HEADER) begin();
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      at += piece.length;
      take(piece);
    }
  };
}

function messageOf(text: Buffer): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text.toString('utf8'));
  } catch {
    throw new MalformedFrame('a message that is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new MalformedFrame('a message that is no object');
  return value as Readonly<Record<string, unknown>>;
}
