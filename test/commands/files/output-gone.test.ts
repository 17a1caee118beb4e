import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { OutputClosed } from '../../../src/lib/cli/io.ts';
import { untilOutputGone } from '../../../src/lib/cli/output-gone.ts';

test.each(['EPIPE', 'a close'])('a reader that goes away with %s is no error of the command', async (how) => {
  const output = new PassThrough({ highWaterMark: 1 });
  const endless = Readable.from(
    (function* () {
      for (;;) yield Buffer.alloc(1000);
    })(),
  );
  const running = untilOutputGone(() => pipeline(endless, output));
  output.destroy(how === 'EPIPE' ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) : undefined);
  await expect(running).rejects.toBeInstanceOf(OutputClosed);
  expect(endless.destroyed).toBe(true);
});

test('other failures stay what they are', async () => {
  await expect(untilOutputGone(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
