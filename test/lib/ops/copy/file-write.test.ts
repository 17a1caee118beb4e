import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileWriter } from '../../../../src/lib/ops/copy/file-write.ts';

const MEGABYTE = 1024 * 1024;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-file-write-'));
  path = join(folder, 'file');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Writes pieces that are overwritten as soon as they may be. */
async function written(pieces: readonly Buffer[]): Promise<Buffer> {
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const fd = openSync(path, 'w');
  const writer = fileWriter(fd, size);
  for (const piece of pieces) {
    const lent = Buffer.from(piece);
    await writer.write(lent);
    lent.fill(0xff);
  }
  await writer.end();
  ftruncateSync(fd, size);
  closeSync(fd);
  return readFileSync(path);
}

test('pieces of any size, with zeros anywhere, come to one file', async () => {
  const piece = fc
    .tuple(fc.nat({ max: 3 * MEGABYTE }), fc.constantFrom(0, 1, 7))
    .map(([size, byte]) => Buffer.alloc(size, byte));
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 6 }), async (pieces) => {
      expect((await written(pieces)).equals(Buffer.concat(pieces))).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test.each([8, 8 * MEGABYTE])('zeros beside %i bytes take no room on the disk', async (size) => {
  const hole = Buffer.alloc(16 * MEGABYTE);
  const content = Buffer.concat([Buffer.alloc(size, 1), hole, Buffer.alloc(size, 2)]);
  expect((await written([content])).equals(content)).toBe(true);
  expect(statSync(path).blocks * 512).toBeLessThan(2 * size + MEGABYTE);
});

test.each([8, 8 * MEGABYTE])('%i bytes that cannot be written are heard of', async (size) => {
  const fd = openSync('/dev/full', 'w');
  const writer = fileWriter(fd, size);
  await expect(
    (async () => {
      await writer.write(Buffer.alloc(size, 1));
      await writer.end();
    })(),
  ).rejects.toMatchObject({ code: 'ENOSPC' });
  closeSync(fd);
});
