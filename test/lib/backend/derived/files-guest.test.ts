import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Running } from '../../../../src/lib/backend/contract.ts';
import {
  type FileProgram,
  feedFileProgram,
  startFileProgram,
} from '../../../../src/lib/backend/derived/files-guest.ts';
import { SbxError } from '../../../../src/lib/errors.ts';

const program: FileProgram = { name: 'p', script: '', verb: 'write to', path: '/x', args: [] };
const call = { signal: new AbortController().signal };

/** A sandbox whose commands cannot start: their streams break, and `wait` says why. */
function unstartable() {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const running: Running = {
    stdin: new PassThrough(),
    stdout,
    stderr,
    signal: async () => undefined,
    terminate: async () => undefined,
    wait: async () => {
      throw new SbxError('failed', 'cannot enter the sandbox');
    },
  };
  stdout.end();
  stderr.destroy();
  return { name: 'box', backend: 'fake', exec: async () => running };
}

test('a program that cannot start is one error, and no unhandled rejection that ends sbx with a stack', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  try {
    const input = async function* () {
      yield Buffer.from('data');
    };
    await expect(feedFileProgram(unstartable(), program, input(), call)).rejects.toThrow(
      'cannot enter the sandbox',
    );
    await expect(startFileProgram(unstartable(), program, call)).rejects.toThrow('cannot enter the sandbox');
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
