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
  const running = untilOutputGone(output, () => pipeline(endless, output));
  output.destroy(how === 'EPIPE' ? Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) : undefined);
  await expect(running).rejects.toBeInstanceOf(OutputClosed);
  expect(endless.destroyed).toBe(true);
});

test('other failures stay what they are', async () => {
  const run = () => Promise.reject(new Error('no'));
  await expect(untilOutputGone(new PassThrough(), run)).rejects.toThrow('no');
});

test('a source that breaks off is an error of the command', async () => {
  const [source, output] = [new PassThrough(), new PassThrough()];
  const running = untilOutputGone(output, () => pipeline(source, output));
  source.destroy();
  await expect(running).rejects.toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
});
