import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { deriveArchive, unpackInside } from '../../../../src/lib/backend/derived/archive.ts';
import { directoriesLast } from '../../../../src/lib/ops/copy/directories-last.ts';
import { readLocalTree } from '../../../../src/lib/ops/copy/local-read.ts';
import { ALL } from '../../../../src/lib/ops/copy/select.ts';
import { decodeTar } from '../../../../src/lib/ops/copy/tar-decode.ts';
import { encodeTar } from '../../../../src/lib/ops/copy/tar-encode.ts';
import type { TreeEvent } from '../../../../src/lib/ops/copy/tree.ts';
import { guestShell, hasFamily, type ShellOptions } from '../../../support/guest-shell.ts';
import { asRoot, requireOrSkip } from '../../../support/require.ts';
import { canMount, tinyDisk } from '../../../support/tiny-disk.ts';
import { anyTree, events, gather, keptBy, leftovers, plant, scrap, survey } from '../../ops/copy/trees.ts';

const { signal } = new AbortController();
const call = { signal };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-archive-'));
  chmodSync(folder, 0o755);
});
afterEach(() => scrap(folder));

const file = (path: string, content: string): TreeEvent[] => [
  {
    kind: 'entry',
    entry: { path, type: 'file', mode: 0o644, uid: 0, gid: 0, mtimeMs: 5000, size: content.length },
  },
  ...(content === '' ? [] : [{ kind: 'data', data: Buffer.from(content) } as const]),
];
const tarOf = (list: readonly TreeEvent[]) => Readable.from(encodeTar(events(list)), { objectMode: false });
const treeAt = (path: string, name: string) =>
  Readable.from(
    encodeTar(directoriesLast(readLocalTree(path, { name, follow: false, selection: ALL, signal }))),
    { objectMode: false },
  );

describe.each(['gnu', 'busybox'] as const)('with the programs of %s', (family) => {
  const needed = requireOrSkip(hasFamily(family), `programs of ${family}`);
  const archive = (options?: ShellOptions) => deriveArchive(guestShell(family, folder, options));

  async function paths(
    path: string,
    options: Parameters<ReturnType<typeof archive>['read']>[1],
  ): Promise<string[]> {
    const found: string[] = [];
    for await (const event of decodeTar(await archive().read(path, options, call))) {
      if (event.kind === 'entry') found.push(event.entry.path.replace(/^\.\/|\/$/g, ''));
    }
    return found.sort();
  }

  needed(
    'any tree goes in as it is',
    async () => {
      let round = 0;
      await fc.assert(
        fc.asyncProperty(anyTree, async (node) => {
          const name = `from ${++round}`;
          plant(join(folder, name), node);
          await archive().write(folder, treeAt(join(folder, name), `to ${round}`), {}, call);
          expect(survey(join(folder, `to ${round}`), keptBy(family))).toEqual(
            survey(join(folder, name), keptBy(family)),
          );
        }),
        { numRuns: 12 },
      );
      expect(leftovers(folder)).toEqual([]);
    },
    60_000,
  );

  needed('a name as it is, contents below a dot, links unless they are followed', async () => {
    mkdirSync(join(folder, '-d \\n\n'));
    writeFileSync(join(folder, '-d \\n\n', 'f'), 'x');
    symlinkSync('-d \\n\n', join(folder, 'l'));
    expect(await paths('-d \\n\n', {})).toEqual(['-d \\n\n', '-d \\n\n/f']);
    expect(await paths(`${folder}/-d \\n\n`, { contents: true })).toEqual(['', 'f']);
    expect(await paths('l', {})).toEqual(['l']);
    expect(await paths('l', { dereference: true })).toEqual(['-d \\n\n', '-d \\n\n/f']);
  });

  needed('directories merge and files are replaced whole', async () => {
    mkdirSync(join(folder, 'd/sub'), { recursive: true, mode: 0o700 });
    for (const name of ['old', 'both', '.dot']) writeFileSync(join(folder, 'd/sub', name), 'old');
    symlinkSync('/etc/passwd', join(folder, 'd/sub/link'));
    const tree = [
      ...file('d/sub/both', 'new'),
      ...file('d/sub/.dot', 'new'),
      ...file('d/sub/link', 'new'),
      ...file('d/new/-x', 'new'),
      ...file('d/..odd', 'new'),
    ];
    await archive().write(folder, tarOf(tree), {}, call);
    const contents = Object.fromEntries(
      ['d/sub/old', 'd/sub/both', 'd/sub/.dot', 'd/sub/link', 'd/new/-x', 'd/..odd'].map((path) => [
        path,
        readFileSync(join(folder, path), 'utf8'),
      ]),
    );
    expect(contents).toEqual({
      'd/sub/old': 'old',
      'd/sub/both': 'new',
      'd/sub/.dot': 'new',
      'd/sub/link': 'new',
      'd/new/-x': 'new',
      'd/..odd': 'new',
    });
    expect(lstatSync(join(folder, 'd/sub')).mode & 0o777).toBe(0o700);
    expect(lstatSync(join(folder, 'd/sub/link')).isFile()).toBe(true);
    expect(leftovers(folder)).toEqual([]);
  });

  needed('a conflict is found before anything is written', async () => {
    mkdirSync(join(folder, 'd/z'), { recursive: true });
    const before = survey(folder, { times: false });
    await expect(
      archive().write(folder, tarOf([...file('d/a', 'x'), ...file('d/z', 'x')]), {}, call),
    ).rejects.toMatchObject({ code: 'conflict' });
    writeFileSync(join(folder, 'f'), '');
    await expect(archive().write(folder, tarOf(file('f/x', 'x')), {}, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(survey(folder, { times: false })).toEqual({ ...before, f: expect.any(String) });
  });

  needed('a stream that fails, is cut or stops leaves nothing', async () => {
    const bytes = await gather(encodeTar(events([...file('a', 'x'), ...file('b', 'y'.repeat(3000))])));
    for (const length of [0, 700, 1024, 2000, bytes.length - 1024, bytes.length - 512]) {
      await expect(
        archive().write(folder, Readable.from([bytes.subarray(0, length)]), {}, call),
        `cut at ${length}`,
      ).rejects.toMatchObject({ code: 'failed' });
    }
    const failing = Readable.from(
      (async function* () {
        yield bytes.subarray(0, 1024);
        throw new Error('the link is lost');
      })(),
    );
    await expect(archive().write(folder, failing, {}, call)).rejects.toThrow('the link is lost');
    const torn = new PassThrough();
    const written = archive().write(folder, torn, {}, call);
    // Before anybody reads it.
    torn.destroy(new Error('it is torn'));
    await expect(written).rejects.toThrow('it is torn');
    const stop = new AbortController();
    const stalled = new PassThrough();
    stalled.write(bytes.subarray(0, 1024), () => stop.abort());
    await expect(archive().write(folder, stalled, {}, { signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(Object.keys(survey(folder))).toEqual(['']);
  });

  needed('nothing of a tar is taken where it cannot be unpacked', async () => {
    const tar = tarOf(file('a', 'content'));
    const refused = unpackInside(guestShell(family, folder), 'missing', tar, 'self', call);
    await expect(refused).rejects.toMatchObject({ code: 'not_found' });
    await archive().write(folder, tar, {}, call);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('content');
  });

  needed('what is wrong is said by kind, also while the input stalls', async () => {
    writeFileSync(join(folder, 'f'), '');
    await expect(archive().read('missing', {}, call)).rejects.toMatchObject({ code: 'not_found' });
    await expect(archive().read('f', { contents: true }, call)).rejects.toThrow('not a directory');
    await expect(archive().write('missing', new PassThrough(), {}, call)).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(archive().write('f', new PassThrough(), {}, call)).rejects.toThrow('not a directory');
    // busybox finds its own programs without any file.
    if (family === 'busybox') return;
    await expect(archive({ without: ['tar'] }).read('f', {}, call)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('has no tar'),
    });
    await expect(archive({ without: ['tar'] }).write('.', tarOf(file('a', '')), {}, call)).rejects.toThrow(
      'has no tar',
    );
  });

  needed('a reader that goes away ends the program', async () => {
    writeFileSync(join(folder, 'big'), '');
    truncateSync(join(folder, 'big'), 1024 ** 3);
    const stream = await archive().read('big', {}, call);
    await new Promise((resolve) => stream.once('data', resolve));
    const closed = new Promise((resolve) => stream.once('close', resolve));
    stream.destroy();
    await closed;
  });

  asRoot(hasFamily(family), `programs of ${family}`)(
    'a plain user: denied, unreadable in the tree, folders that may not be written',
    async () => {
      const plain = archive({ uid: 65534 });
      await expect(plain.write(folder, tarOf(file('x', 'x')), {}, call)).rejects.toThrow('permission denied');
      mkdirSync(join(folder, 'mine'));
      chownSync(join(folder, 'mine'), 65534, 65534);
      const locked: TreeEvent = {
        kind: 'entry',
        entry: { path: 'd', type: 'directory', mode: 0o555, uid: 0, gid: 0, mtimeMs: 5000, size: 0 },
      };
      await plain.write(join(folder, 'mine'), tarOf([...file('d/f', '1'), locked]), {}, call);
      // The tar of busybox gives a directory that is there no new mode unless it runs as root.
      if (family === 'gnu') expect(lstatSync(join(folder, 'mine/d')).mode & 0o777).toBe(0o555);
      chmodSync(join(folder, 'mine/d'), 0o555);
      await expect(
        plain.write(join(folder, 'mine'), tarOf(file('d/f', '2')), {}, call),
      ).rejects.toMatchObject({ code: 'failed' });
      expect(readFileSync(join(folder, 'mine/d/f'), 'utf8')).toBe('1');
      writeFileSync(join(folder, 'mine/secret'), '', { mode: 0 });
      await expect(gather(await plain.read('mine', {}, call))).rejects.toMatchObject({ code: 'failed' });
      mkdirSync(join(folder, 'closed'), { mode: 0o700 });
      await expect(plain.read('closed/x', {}, call)).rejects.toThrow('permission denied');
      expect(leftovers(folder)).toEqual([]);
    },
  );

  asRoot(hasFamily(family), `programs of ${family}`)('owners are kept when asked for', async () => {
    const owned: TreeEvent = {
      kind: 'entry',
      entry: { path: 'o', type: 'file', mode: 0o4755, uid: 1234, gid: 2345, mtimeMs: 0, size: 0 },
    };
    await archive().write(folder, tarOf([owned]), { owner: 'keep' }, call);
    expect(lstatSync(join(folder, 'o'))).toMatchObject({ uid: 1234, gid: 2345 });
    await archive().write(folder, tarOf([owned]), {}, call);
    expect(lstatSync(join(folder, 'o'))).toMatchObject({ uid: 0, gid: 0 });
  });

  asRoot(canMount && hasFamily(family), `the right to mount, and programs of ${family}`)(
    'a full disk is said to be one, and nothing stays',
    async () => {
      const disk = join(folder, 'disk');
      using _ = tinyDisk(disk);
      await expect(archive().write(disk, tarOf(file('big', 'x'.repeat(200_000))), {}, call)).rejects.toThrow(
        'no space left',
      );
      expect(Object.keys(survey(disk))).toEqual(['']);
    },
  );
});
