/** Trees in and out of a sandbox over exec and its own tar (GNU, busybox or toybox). */
import type { Readable } from 'node:stream';
import { SbxError } from '../../errors.ts';
import commitScript from '../../guest/tar-commit.sh';
import readScript from '../../guest/tar-read.sh';
import stageScript from '../../guest/tar-stage.sh';
import writeScript from '../../guest/tar-write.sh';
import { randomHex } from '../../util/random-id.ts';
import type { Archive, Call } from '../contract.ts';
import {
  asStream,
  feedFileProgram,
  guestPath,
  runFileProgram,
  startFileProgram,
  tidyUp,
} from './files-guest.ts';
import type { ExecSandbox } from './run-guest.ts';

/** A tar ends with two empty blocks. */
const END = 1024;

/** The capability `archive`, derived from exec. Needs `sh` and `tar` in the sandbox. */
export function deriveArchive(sandbox: ExecSandbox): Archive {
  return {
    async read(path, options, call) {
      const at = guestPath(path);
      const flags = [options.contents ? '1' : '', options.dereference ? '1' : ''];
      const args = [at, ...flags, ...(options.exclude ?? []).filter(isPlainName)];
      const program = { name: 'tar-read', script: readScript, verb: 'read', path, args };
      const { output } = await startFileProgram(sandbox, program, call);
      return asStream(whole(output));
    },
    async write(directory, tar, options, call) {
      try {
        await unpackInside(sandbox, directory, tar, options.owner ?? 'self', call);
      } finally {
        tar.destroy();
      }
    },
  };
}

/** Unpacks a tar by that of the sandbox. @throws SbxError `unsupported` when there is none; nothing of `tar` is taken then. */
export async function unpackInside(
  sandbox: ExecSandbox,
  directory: string,
  tar: Readable,
  owner: 'keep' | 'self',
  call: Call,
): Promise<void> {
  const at = guestPath(directory);
  // It may break before it is read, which is no crash: reading it tells.
  tar.on('error', () => undefined);
  const stage = `.sbx-${randomHex(8)}`;
  const common = { verb: 'write to', path: directory };
  const finish = (what: 'commit' | 'discard', finishCall: Call) =>
    runFileProgram(
      sandbox,
      { ...common, name: 'tar-commit', script: commitScript, args: [at, stage, what] },
      finishCall,
    );
  const script = `${stageScript}${writeScript}`;
  const write = { ...common, name: 'tar-write', script, args: [at, stage, owner], greets: true };
  try {
    await feedFileProgram(sandbox, write, whole(tar), call);
    await finish('commit', call);
  } catch (cause) {
    await tidyUp(cause, `${directory}/${stage}`, (tidyCall) => finish('discard', tidyCall));
  }
}

/**
 * The same bytes; fails at the end unless they end as a tar does. A net under senders whose streams end where they should
 * fail: a cut behind a file that itself ends in zeros is not seen here.
 */
export async function* whole(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, void> {
  let zeros = 0;
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const trailing = trailingZeros(bytes);
    zeros = trailing === bytes.length ? Math.min(zeros + trailing, END) : trailing;
    yield bytes;
  }
  if (zeros < END) {
    throw new SbxError('failed', 'the tar stream ends too early: it is cut', {
      hint: 'copy again; nothing was put in place',
    });
  }
}

function trailingZeros(bytes: Buffer): number {
  let count = 0;
  while (count < END && count < bytes.length && bytes[bytes.length - 1 - count] === 0) count++;
  return count;
}

/** Names and endings that every tar understands alike; the reader of the tar leaves out the rest itself. */
function isPlainName(pattern: string): boolean {
  return /^\*?[\w .@+-]+$/.test(pattern) && !/^[ .]*$/.test(pattern) && pattern.trim() === pattern;
}
