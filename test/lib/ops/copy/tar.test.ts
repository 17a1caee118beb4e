import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { directoriesLast } from '../../../../src/lib/ops/copy/directories-last.ts';
import { readLocalTree } from '../../../../src/lib/ops/copy/local-read.ts';
import { parsePax, paxRecord } from '../../../../src/lib/ops/copy/pax.ts';
import { ALL } from '../../../../src/lib/ops/copy/select.ts';
import { decodeTar } from '../../../../src/lib/ops/copy/tar-decode.ts';
import { encodeEntry, encodeTar } from '../../../../src/lib/ops/copy/tar-encode.ts';
import type { RawEvent, TreeEntry, TreeEvent } from '../../../../src/lib/ops/copy/tree.ts';
import { hasFamily } from '../../../support/guest-shell.ts';
import { requireOrSkip } from '../../../support/require.ts';
import { anyTree, chunked, events, gather, keptBy, plant, scrap, survey } from './trees.ts';

const signal = new AbortController().signal;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-tar-'));
});
afterEach(() => scrap(folder));

async function decoded(bytes: Uint8Array, size = 4096): Promise<RawEvent[]> {
  const all: RawEvent[] = [];
  for await (const event of decodeTar(chunked(bytes, size))) all.push(event);
  return all;
}

const entry = (over: Partial<TreeEntry> = {}): TreeEntry => ({
  path: 'f',
  type: 'file',
  mode: 0o644,
  uid: 1,
  gid: 2,
  size: 0,
  mtimeMs: 1000,
  ...over,
});
const file = (path: string, content: string): TreeEvent[] => [
  { kind: 'entry', entry: entry({ path, size: content.length }) },
  ...(content === '' ? [] : [{ kind: 'data', data: Buffer.from(content) } as const]),
];

const isFile = (path: string) => (event: RawEvent) =>
  event.kind === 'entry' && event.entry.path === path && event.entry.type === 'file';

/** Puts the checksum of a header right. */
function sum(block: Buffer): void {
  block.fill(' ', 148, 156);
  const total = block.subarray(0, 512).reduce((a, b) => a + b, 0);
  block.write(`${total.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
}

describe('what is encoded', () => {
  const anyEntry = fc.record({
    path: fc
      .string({ minLength: 1, maxLength: 300, unit: 'grapheme' })
      .filter((p) => !/[\0\ufffd\ud800-\udfff]|^\/|\/$/u.test(p)),
    type: fc.constant('file' as const),
    mode: fc.integer({ min: 0, max: 0o7777 }),
    uid: fc.integer({ min: 0, max: 2 ** 32 - 2 }),
    gid: fc.integer({ min: 0, max: 2 ** 32 - 2 }),
    size: fc.constant(0),
    mtimeMs: fc.integer({ min: -1_000_000_000, max: 4_000_000_000 }).map((s) => s * 1000 + 250),
  });
  test('is decoded to the same, whatever the chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyEntry, { maxLength: 4 }),
        fc.uint8Array({ maxLength: 1500 }),
        fc.integer({ min: 1, max: 1025 }),
        async (list, body, size) => {
          const tree: TreeEvent[] = list.map((each) => ({ kind: 'entry', entry: each }));
          tree.push({ kind: 'entry', entry: entry({ path: 'body', size: body.length }) });
          if (body.length > 0) tree.push({ kind: 'data', data: body });
          const got = await decoded(await gather(encodeTar(events(tree))), size);
          expect(got.flatMap((event) => (event.kind === 'entry' ? [event.entry] : []))).toEqual(
            tree.flatMap((event) => (event.kind === 'entry' ? [event.entry] : [])),
          );
          expect(Buffer.concat(got.flatMap((event) => (event.kind === 'data' ? [event.data] : [])))).toEqual(
            Buffer.from(body),
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  test('keeps sizes above 8 GB', async () => {
    const size = 9 * 1024 ** 3 + 5;
    const first = decodeTar(
      chunked(Buffer.concat([...encodeEntry(entry({ size })), Buffer.alloc(512)]), 512),
    );
    expect((await first.next()).value).toMatchObject({ entry: { size } });
    await first.return();
  });

  test('fails when a file is shorter or longer than it said', async () => {
    for (const data of ['ab', 'abcd']) {
      const tree: TreeEvent[] = [
        { kind: 'entry', entry: entry({ size: 3 }) },
        { kind: 'data', data: Buffer.from(data) },
      ];
      await expect(gather(encodeTar(events(tree)))).rejects.toMatchObject({ code: 'failed' });
    }
  });
});

test('a tar that is cut anywhere is an error', async () => {
  const bytes = await gather(
    encodeTar(events([...file('a', 'hello'), ...file('b'.repeat(150), ''), ...file('c', 'x'.repeat(600))])),
  );
  for (let length = 0; length < bytes.length - 512; length += 37) {
    await expect(decoded(bytes.subarray(0, length)), `cut at ${length}`).rejects.toMatchObject({
      code: 'failed',
    });
  }
  for (let length = 0; length < bytes.length; length += 512) {
    await expect(decoded(bytes.subarray(0, length)), `cut at ${length}`).rejects.toMatchObject({
      code: 'failed',
    });
  }
});

test('any damage ends in an error of ours or in entries, never in a hang or a crash', async () => {
  const bytes = await gather(
    encodeTar(events([...file('a', 'hello'), ...file('b'.repeat(150), 'y'), ...file('ü\n', '')])),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      async (changes) => {
        const copy = Buffer.from(bytes);
        for (const [at, value] of changes) copy[at] = value;
        const outcome = await decoded(copy).catch((error: unknown) => error);
        if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'SbxError', code: 'failed' });
      },
    ),
    { numRuns: 300 },
  );
});

test('a file whose old header lost its name, but for the folder, is still a file', async () => {
  const record = Buffer.from(paxRecord('path', 'dir/é'));
  const pax = encodeEntry(entry({ path: 'PaxHeaders', size: record.length })).map((block) =>
    Buffer.from(block),
  );
  const header = pax.at(-1) as Buffer;
  const bytes = await gather(encodeTar(events(file('dir/x', 'content'))));
  // As Go writes it: what is not ASCII is left out.
  bytes.fill(0, 'dir/'.length, 'dir/x'.length);
  header.write('x', 156, 'latin1');
  for (const block of [header, bytes]) sum(block);
  const padded = Buffer.concat([record, Buffer.alloc(512 - record.length)]);
  const got = await decoded(Buffer.concat([header, padded, bytes]));
  expect(got).toMatchObject([
    { entry: { path: 'dir/é', type: 'file', size: 7 } },
    { data: Buffer.from('content') },
  ]);
});

test('a compressed stream says how to unpack it', async () => {
  await expect(decoded(Buffer.from([0x1f, 0x8b, ...Buffer.alloc(600)]))).rejects.toMatchObject({
    message: expect.stringContaining('compressed'),
    hint: expect.stringContaining('gzip -dc'),
  });
});

test('pax records may hold newlines, and their lengths may not lie', () => {
  expect(parsePax(Buffer.from(paxRecord('path', 'a\n12 path=b\nc')))).toEqual({ path: 'a\n12 path=b\nc' });
  for (const bad of ['8 path=a\n', '99 path=a\n', '-1 path=a\n', '0 a=b\n', 'x', '10 path=ab']) {
    expect(() => parsePax(Buffer.from(bad)), bad).toThrow('damaged');
  }
});

describe.each(['gnu', 'busybox'] as const)('with the tar of %s', (family) => {
  const needed = requireOrSkip(hasFamily(family), `tar of ${family}`);
  const tar = family === 'gnu' ? ['tar'] : ['busybox', 'tar'];
  const run = (args: readonly string[], input?: Buffer) =>
    execFileSync(tar[0] ?? '', [...tar.slice(1), ...args], {
      ...(input === undefined ? {} : { input }),
      maxBuffer: 1e9,
    });

  needed(
    'our tar unpacks to the same tree',
    async () => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(anyTree, async (node) => {
          const [from, to] = [join(folder, `from${++round}`), join(folder, `to${round}`)];
          plant(from, node);
          mkdirSync(to);
          const bytes = await gather(
            encodeTar(
              directoriesLast(readLocalTree(from, { name: 'tree', follow: false, selection: ALL, signal })),
            ),
          );
          run(['-xpf', '-', '-C', to], bytes);
          const kept = keptBy(family);
          expect(survey(join(to, 'tree'), kept)).toEqual(survey(from, kept));
        }),
        { numRuns: 15 },
      );
    },
    30_000,
  );

  needed('its tar is read by us', async () => {
    writeFileSync(join(folder, 'new\nline ü'), 'abc');
    mkdirSync(join(folder, 'd'.repeat(120)));
    writeFileSync(join(folder, 'd'.repeat(120), 'f'), '');
    // The old header holds the first hundred bytes of a name, and ends in the slash here.
    mkdirSync(join(folder, 'e'.repeat(97)));
    writeFileSync(join(folder, 'e'.repeat(97), 'f'), 'content');
    const got = await decoded(run(['-cf', '-', '-C', folder, '.']), 1000);
    const paths = got.flatMap((event) => (event.kind === 'entry' ? [event.entry.path] : []));
    const [d, e] = ['d'.repeat(120), 'e'.repeat(97)];
    const all = ['./', `./${d}/`, `./${d}/f`, `./${e}/`, `./${e}/f`, './new\nline ü'];
    expect(paths.sort()).toEqual(all);
    expect(got.filter(isFile(`./${e}/f`))).toMatchObject([{ entry: { size: 7 } }]);
  });
});
