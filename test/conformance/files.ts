/** Files and trees of a sandbox: what goes in comes out, and failures are told by kind. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Archive, Files } from '../../src/lib/backend/contract.ts';
import { directoriesLast } from '../../src/lib/ops/copy/directories-last.ts';
import { gate } from '../../src/lib/ops/copy/gate.ts';
import { readLocalTree } from '../../src/lib/ops/copy/local-read.ts';
import { writeLocalTree } from '../../src/lib/ops/copy/local-write.ts';
import { ALL } from '../../src/lib/ops/copy/select.ts';
import { decodeTar } from '../../src/lib/ops/copy/tar-decode.ts';
import { encodeTar } from '../../src/lib/ops/copy/tar-encode.ts';
import { anyTree, gather, plant, scrap, survey } from '../lib/ops/copy/trees.ts';
import { call, type Harness } from './harness.ts';

/** A backend may take other ways where the other end keeps up. */
const PACES = [false, true];
const ODD = ['a b', '-n', 'new\nline', 'ü☃', '.hidden'];

export function filesConformance(h: Harness): void {
  let folder: string;
  let round = 0;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sbx-conformance-'));
  });
  afterEach(() => scrap(folder));

  const open = async (): Promise<{ files: Files; archive: Archive; at: string }> => {
    const { files, archive } = (await h.shared()).can;
    if (files === undefined || archive === undefined) throw new Error('no files or archive');
    const at = `conformance-${process.pid}-${round++}`;
    await files.makeDirectory(at, { parents: true }, call);
    return { files, archive, at };
  };
  const put = (archive: Archive, path: string, name: string, directory: string, steady: boolean) => {
    const tree = readLocalTree(path, { name, follow: false, selection: ALL, signal: call.signal });
    return archive.write(
      directory,
      Readable.from(encodeTar(directoriesLast(tree)), { objectMode: false }),
      { steady },
      call,
    );
  };

  test.each(PACES)('any tree goes in and comes out the same, steady: %s', async (steady) => {
    const { archive, at } = await open();
    let count = 0;
    await fc.assert(
      fc.asyncProperty(anyTree, async (node) => {
        const [name, back] = [`in${++count}`, join(folder, `out${count}`)];
        plant(join(folder, name), node);
        await put(archive, join(folder, name), name, at, steady);
        const tar = await archive.read(`${at}/${name}`, { steady }, call);
        const tree = gate(decodeTar(tar), { top: name, outwardLinks: true, plainModes: false });
        plant(back, { type: 'directory', mode: 0o755, children: new Map(), mtime: 1 });
        await writeLocalTree(back, tree, { keepOwner: false, signal: call.signal });
        // Special bits, and times of directories and whether their owner may write, depend on who runs what inside.
        const options = { modes: 0o577, times: 'files' } as const;
        expect(survey(join(back, name), options)).toEqual(survey(join(folder, name), options));
      }),
      { numRuns: 5 },
    );
  });

  test.each(PACES)('a tree that is cut changes nothing, steady: %s', async (steady) => {
    const { files, archive, at } = await open();
    plant(join(folder, 'd'), {
      type: 'directory',
      mode: 0o755,
      mtime: 1,
      children: new Map([
        ['f', { type: 'file', mode: 0o644, mtime: 1, content: new Uint8Array(3000).fill(7) }],
      ]),
    });
    const tree = readLocalTree(join(folder, 'd'), {
      name: 'd',
      follow: false,
      selection: ALL,
      signal: call.signal,
    });
    const bytes = await gather(encodeTar(tree));
    for (const length of [700, 2048, bytes.length - 1024]) {
      await expect(
        archive.write(at, Readable.from([bytes.subarray(0, length)]), { steady }, call),
      ).rejects.toMatchObject({ name: 'SbxError' });
    }
    expect(await Array.fromAsync(files.list(at, call))).toEqual([]);
  });

  test('single files: bytes, modes, odd names, lists', async () => {
    const { files, at } = await open();
    const bytes = Buffer.from(Array.from({ length: 50_000 }, (_, index) => (index * 31) % 256));
    for (const name of ODD) {
      await files.write(`${at}/${name}`, Readable.from([bytes]), { mode: 0o640 }, call);
      expect((await gather(await files.read(`${at}/${name}`, call))).equals(bytes)).toBe(true);
      expect(await files.stat(`${at}/${name}`, call)).toMatchObject({
        name,
        type: 'file',
        size: bytes.length,
        mode: 0o640,
      });
    }
    const listed = await Array.fromAsync(files.list(at, call));
    expect(listed.map(({ name }) => name).sort()).toEqual([...ODD].sort());
    for (const name of ODD) await files.remove(`${at}/${name}`, { recursive: false, force: false }, call);
    expect(await Array.fromAsync(files.list(at, call))).toEqual([]);
  });

  test('failures are told by kind', async () => {
    const { files, archive, at } = await open();
    const missing = `${at}/missing`;
    const notFound = { code: 'not_found' };
    await expect(files.stat(missing, call)).rejects.toMatchObject(notFound);
    await expect(files.read(missing, call)).rejects.toMatchObject(notFound);
    await expect(archive.read(missing, {}, call)).rejects.toMatchObject(notFound);
    await expect(files.remove(missing, { recursive: false, force: false }, call)).rejects.toMatchObject(
      notFound,
    );
    await files.remove(missing, { recursive: false, force: true }, call);
    await expect(files.read(at, call)).rejects.toMatchObject({ code: 'failed' });
    await expect(files.remove(at, { recursive: false, force: false }, call)).rejects.toMatchObject({
      code: 'failed',
    });
    await expect(files.makeDirectory(at, { parents: false }, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    await files.makeDirectory(at, { parents: true }, call);
    await expect(files.write(`${missing}/f`, Readable.from(['x']), {}, call)).rejects.toMatchObject(notFound);
    await files.write(`${missing}/f`, Readable.from(['x']), { parents: true }, call);
  });
}
