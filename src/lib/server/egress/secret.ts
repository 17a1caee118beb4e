/** Keeps a provider's key out of what goes to a sandbox, wherever in an answer it stands. */
import { Transform } from 'node:stream';

/** Puts `instead` in the place of the key; holds back no more than what may be its beginning. */
export function withoutSecret(secret: string, instead: string): Transform {
  const wanted = Buffer.from(secret);
  const put = Buffer.from(instead);
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(part: Buffer, _encoding, done) {
      rest = rest.length === 0 ? part : Buffer.concat([rest, part]);
      for (let at = rest.indexOf(wanted); at >= 0; at = rest.indexOf(wanted)) {
        this.push(Buffer.concat([rest.subarray(0, at), put]));
        rest = rest.subarray(at + wanted.length);
      }
      const keep = beginningLength(rest, wanted);
      if (keep < rest.length) this.push(rest.subarray(0, rest.length - keep));
      rest = rest.subarray(rest.length - keep);
      done();
    },
    flush(done) {
      if (rest.length > 0) this.push(rest);
      done();
    },
  });
}

/** How many bytes at the end of `bytes` are the beginning of `wanted`. */
function beginningLength(bytes: Buffer, wanted: Buffer): number {
  for (let length = Math.min(bytes.length, wanted.length - 1); length > 0; length--) {
    if (bytes.subarray(bytes.length - length).equals(wanted.subarray(0, length))) return length;
  }
  return 0;
}
