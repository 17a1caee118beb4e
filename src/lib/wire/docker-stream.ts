/**
 * The stream of a command or log of Docker Engine that has no terminal: frames of an 8-byte header (kind, three
 * zeros, length as 32 bits big-endian) and that many bytes. Docker Engine API, "ContainerAttach", "Stream format".
 * Payloads are handed on in the pieces they arrive in and never gathered, so a length allocates nothing.
 */

/** Where a frame belongs. `error`: a message of the engine itself. */
export type DockerStream = 'stdout' | 'stderr' | 'error';

/** Takes the next bytes of the connection. Throws {@link MalformedStream} when they cannot be frames. */
export type DockerStreamParser = (chunk: Uint8Array) => void;

/** The other end does not speak frames, or lost its place in them. */
export class MalformedStream extends Error {}

const HEADER = 8;
/** No engine sends larger frames: theirs hold one read of at most some 32 KiB, or one line of a log. */
const LENGTH_LIMIT = 64 * 1024 * 1024;
const KINDS: readonly (DockerStream | undefined)[] = [undefined, 'stdout', 'stderr', 'error'];

/**
 * A parser that tells each piece of payload, as views of what it was given, and whether a frame starts with it. Frames
 * of the input stream are skipped.
 */
export function dockerStreamParser(
  onData: (stream: DockerStream, piece: Uint8Array, starts: boolean) => void,
): DockerStreamParser {
  const header = new Uint8Array(HEADER);
  let filled = 0;
  let left = 0;
  let starts = false;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = Math.min(HEADER - filled, chunk.length - at);
        header.set(chunk.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled < HEADER) return;
        left = lengthOf(header);
        starts = true;
        // A frame without a payload is over at once.
        if (left === 0) filled = 0;
        continue;
      }
      const piece = chunk.subarray(at, at + left);
      at += piece.length;
      left -= piece.length;
      const stream = KINDS[header[0] ?? 0];
      if (left === 0) filled = 0;
      if (stream !== undefined) onData(stream, piece, starts);
      starts = false;
    }
  };
}

function lengthOf(header: Uint8Array): number {
  const [kind = 0, a, b, c] = header;
  const length = new DataView(header.buffer).getUint32(4);
  if (kind >= KINDS.length || a !== 0 || b !== 0 || c !== 0 || length > LENGTH_LIMIT)
    throw new MalformedStream(`not a frame: ${[...header].map((byte) => byte.toString(16)).join(' ')}`);
  return length;
}
