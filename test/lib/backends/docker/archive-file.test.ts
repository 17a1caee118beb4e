/** A tar of one file, from a hand that means no good. */
import { execFileSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { fileTar, firstFile } from '../../../../src/lib/backends/docker/archive-file.ts';

const read = (tar: Buffer, limit = 1000) => firstFile(Readable.from([tar], { objectMode: false }), limit);

test.each([0, 1, 511, 512, 513, 900])(
  '%i bytes go in and come out, and tar understands them',
  async (size) => {
    const content = Buffer.alloc(size, 'x');
    const tar = fileTar('var/lib/sbx/env', content, 0o644);
    expect(await read(tar)).toEqual(content);
    const listed = execFileSync('tar', ['-tvf', '-'], { input: tar, encoding: 'utf8' });
    expect(listed).toMatch(new RegExp(`-rw-r--r-- 0/0 +${size} .* var/lib/sbx/env\n`));
  },
);

test('what is cut, too long, malformed or no file is refused', async () => {
  const tar = fileTar('f', Buffer.alloc(900, 'x'), 0o644);
  await expect(read(tar.subarray(0, 1000))).rejects.toMatchObject({ code: 'failed' });
  await expect(read(fileTar('f', Buffer.alloc(100_000), 0o644))).rejects.toMatchObject({ code: 'failed' });
  const odd = Buffer.from(tar);
  odd.write('zzzzzzzzzzz', 124);
  await expect(read(odd)).rejects.toMatchObject({ code: 'failed' });
  const link = Buffer.from(tar);
  link.write('2', 156);
  await expect(read(link.subarray(0, 512))).rejects.toMatchObject({ code: 'failed' });
  await expect(read(Buffer.alloc(2048))).rejects.toMatchObject({ code: 'failed' });
});
