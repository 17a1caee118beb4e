import { lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { Header } from 'tar/header';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gate } from '../../../../src/lib/ops/copy/gate.ts';
import { writeLocalTree } from '../../../../src/lib/ops/copy/local-write.ts';
import { paxRecord } from '../../../../src/lib/ops/copy/pax.ts';
import { decodeTar } from '../../../../src/lib/ops/copy/tar-decode.ts';
import type { RawEvent, Tree } from '../../../../src/lib/ops/copy/tree.ts';
import { chunked, scrap, survey } from './trees.ts';

const signal = new AbortController().signal;
let folder: string;
let target: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-hostile-'));
  target = join(folder, 'target');
  mkdirSync(target);
  writeFileSync(join(folder, 'secret'), 'untouched');
});
afterEach(() => scrap(folder));

type Parts = { path?: string; type?: string; linkpath?: string; body?: string; mode?: number };

/** One entry as an attacker writes it. */
function block({ path = 'f', type = '0', linkpath = '', body = '', mode = 0o644 }: Parts): Buffer {
  const header = Buffer.alloc(512);
  const data = Buffer.from(body);
  const made = new Header({ path: 'x', mode, size: data.length, mtime: new Date(1000), uid: 0, gid: 0 });
  made.encode(header);
  header.fill(0, 0, 100).write(path, 0, 100);
  header.write(type, 156, 1, 'latin1');
  header.write(linkpath, 157, 100);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

const long = (kind: 'L' | 'K', name: string) =>
  block({ path: '././@LongLink', type: kind, body: `${name}\0` });
const pax = (key: string, value: string) => block({ path: 'p', type: 'x', body: paxRecord(key, value) });

function archive(...blocks: Buffer[]): Buffer {
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function tree(bytes: Uint8Array, over: Partial<Parameters<typeof gate>[1]> = {}): Tree {
  const raw: AsyncIterable<RawEvent> = decodeTar(chunked(bytes, 700));
  return gate(raw, { top: undefined, outwardLinks: false, plainModes: true, ...over });
}

const write = (bytes: Uint8Array, over = {}) =>
  writeLocalTree(target, tree(bytes, over), { keepOwner: false, signal });

const attacks: Record<string, Buffer> = {
  'a path with ..': archive(block({ path: '../x', body: 'evil' })),
  'a path with .. in the middle': archive(block({ path: 'a/../../x', body: 'evil' })),
  'an absolute path': archive(block({ path: '/tmp/sbx-evil', body: 'evil' })),
  'a long name with ..': archive(long('L', `${'a/'.repeat(80)}../../x`), block({ body: 'evil' })),
  'a pax path with ..': archive(pax('path', '../x'), block({ body: 'evil' })),
  'a pax path with a NUL': archive(pax('path', 'a\0b'), block({ body: 'evil' })),
  'a symlink with an absolute target': archive(block({ path: 'l', type: '2', linkpath: '/etc' })),
  'a symlink that climbs out': archive(block({ path: 'd/l', type: '2', linkpath: '../../secret' })),
  'a symlink that climbs out behind a name': archive(
    block({ path: 'd/l', type: '2', linkpath: 'x/../../..' }),
  ),
  'a symlink and a file through it': archive(
    block({ path: 'l', type: '2', linkpath: 'd' }),
    block({ path: 'l/x', body: 'evil' }),
  ),
  'a symlink and a file over it': archive(
    block({ path: 'l', type: '2', linkpath: 'd' }),
    block({ path: 'l', body: 'evil' }),
  ),
  'a symlink and a directory over it': archive(
    block({ path: 'l', type: '2', linkpath: 'd' }),
    block({ path: 'l/', type: '5' }),
  ),
  'a symlink, written otherwise, and a file through it': archive(
    block({ path: './/l', type: '2', linkpath: 'd' }),
    block({ path: 'l//./x', body: 'evil' }),
  ),
  'a hard link to outside': archive(block({ path: 'h', type: '1', linkpath: '../secret' })),
  'a hard link to an absolute path': archive(block({ path: 'h', type: '1', linkpath: '/etc/passwd' })),
  'a hard link by pax': archive(
    pax('linkpath', '../secret'),
    block({ path: 'h', type: '1', linkpath: 'ok' }),
  ),
  'a hard link through a symlink': archive(
    block({ path: 'l', type: '2', linkpath: '.' }),
    block({ path: 'h', type: '1', linkpath: 'l/x' }),
  ),
  'a hard link to what is not there': archive(block({ path: 'h', type: '1', linkpath: 'nothing' })),
  'a character device': archive(block({ path: 'c', type: '3' })),
  'a block device': archive(block({ path: 'b', type: '4' })),
  'a fifo': archive(block({ path: 'p', type: '6' })),
  'a sparse file': archive(block({ path: 's', type: 'S' })),
  'an unknown type': archive(block({ path: 's', type: 'Z' })),
  'a name that is too long': archive(long('L', 'n'.repeat(256)), block({ body: 'x' })),
  'a path that is too long': archive(long('L', 'abc/'.repeat(1100)), block({ body: 'x' })),
  'a name without end': archive(long('L', 'x'.repeat(2 * 1024 * 1024))),
  'a name that is not UTF-8': archive(block({ path: 'x' }).fill(0xff, 0, 3)),
  'no name': archive(block({ path: '' })),
  'no end': block({ path: 'x', body: 'hello' }),
};

describe.each(Object.keys(attacks))('an archive with %s', (name) => {
  test('writes nothing and says so', async () => {
    const before = survey(folder);
    await expect(write(attacks[name] as Buffer)).rejects.toMatchObject({ name: 'SbxError', code: 'failed' });
    expect(survey(folder, { times: false })).toEqual(survey(folder, { times: false }));
    expect(Object.keys(survey(folder))).toEqual(Object.keys(before));
    expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('untouched');
  });
});

test('good entries before a bad one are not put in place either', async () => {
  const bytes = archive(block({ path: 'good', body: 'x' }), block({ path: '../bad', body: 'x' }));
  await expect(write(bytes)).rejects.toThrow("'..'");
  expect(survey(target, { times: false })).toEqual({ '': expect.any(String) });
});

test('a symlink that was there is not followed', async () => {
  symlinkSync(folder, join(target, 'out'));
  await expect(write(archive(block({ path: 'out/secret', body: 'evil' })))).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('untouched');
  await write(archive(block({ path: 'out', body: 'plain' })));
  expect(lstatSync(join(target, 'out')).isFile()).toBe(true);
});

test('links inside the tree, and outward ones when asked for, are kept', async () => {
  const inside = archive(
    block({ path: 'd/l', type: '2', linkpath: '../f' }),
    block({ path: 'f', body: 'x' }),
    block({ path: 'h', type: '1', linkpath: 'f' }),
  );
  await write(inside);
  await write(archive(block({ path: 'o', type: '2', linkpath: '/etc' })), { outwardLinks: true });
  expect(survey(target, { times: false })).toMatchObject({
    'd/l': 'link ../f',
    o: 'link /etc',
    h: expect.stringContaining('file'),
  });
  expect(lstatSync(join(target, 'h')).nlink).toBe(2);
});

test('links may not leave the top that was asked for', async () => {
  const bytes = archive(block({ path: 'app/l', type: '2', linkpath: '../other' }));
  await expect(write(bytes, { top: 'app' })).rejects.toThrow('symlink out of');
  await expect(write(archive(block({ path: 'other/f' })), { top: 'app' })).rejects.toThrow('not below');
});

test('setuid and setgid bits do not arrive', async () => {
  await write(archive(block({ path: 's', mode: 0o6755 })));
  expect(lstatSync(join(target, 's')).mode & 0o7777).toBe(0o755);
});

test('no mix of hostile entries changes anything outside', async () => {
  const part = fc.constantFrom('a', 'b', '..', '.', '', 'l');
  const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
  const hostile = fc.record({
    path,
    type: fc.constantFrom('0', '1', '2', '5', '2'),
    linkpath: fc.oneof(path, fc.constant('/tmp')),
    body: fc.constantFrom('', 'evil'),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(hostile, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (list, outwardLinks) => {
        scrap(target);
        mkdirSync(target);
        const bytes = archive(...list.map((each) => block(each.type === '0' ? each : { ...each, body: '' })));
        const outcome = await write(bytes, { outwardLinks }).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'SbxError' });
        scrap(target);
        expect(Object.keys(survey(folder))).toEqual(['', 'secret']);
        expect(readFileSync(join(folder, 'secret'), 'utf8')).toBe('untouched');
      },
    ),
    { numRuns: 300 },
  );
});
