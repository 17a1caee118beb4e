import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { FileEvent, FileStat } from '../../../../src/lib/backend/contract.ts';
import { deriveFiles } from '../../../../src/lib/backend/derived/files.ts';
import { guestShell, hasFamily, type ShellOptions } from '../../../support/guest-shell.ts';
import { asRoot, requireOrSkip } from '../../../support/require.ts';
import { canMount, tinyDisk } from '../../../support/tiny-disk.ts';
import { gather, leftovers, survey } from '../../ops/copy/trees.ts';

const call = { signal: new AbortController().signal };
const ODD = ['a b', '-n', 'new\nline', 'ü☃', '.hidden', '..x', '*', '\ttab', 'end\n'];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-files-'));
  chmodSync(folder, 0o755);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each(['gnu', 'busybox'] as const)('with the programs of %s', (family) => {
  const needed = requireOrSkip(hasFamily(family), `programs of ${family}`);
  const files = (options?: ShellOptions) => deriveFiles(guestShell(family, folder, options));
  const list = async (path: string) => {
    const found: FileStat[] = [];
    for await (const each of files().list(path, call)) found.push(each);
    return found;
  };

  needed('stat: everything of a file, a directory and a link', async () => {
    writeFileSync(join(folder, 'f'), 'hello', { mode: 0o640 });
    symlinkSync('to\nwhere ', join(folder, 'l'));
    expect(await files().stat('f', call)).toEqual({
      path: 'f',
      name: 'f',
      type: 'file',
      size: 5,
      mode: 0o640,
      modifiedAt: new Date(Math.floor(lstatSync(join(folder, 'f')).mtimeMs)).toISOString(),
      user: expect.any(String),
      group: expect.any(String),
    });
    expect(await files().stat(`${folder}/`, call)).toMatchObject({ path: folder, type: 'directory' });
    expect(await files().stat('l', call)).toMatchObject({ type: 'symlink', target: 'to\nwhere ' });
    expect(await files().stat('/dev/null', call)).toMatchObject({ type: 'other' });
    expect(await files().stat('/', call)).toMatchObject({ path: '/', name: '/', type: 'directory' });
  });

  needed('list: odd names, many of them, none of them', async () => {
    expect(await list('.')).toEqual([]);
    for (const name of ODD) writeFileSync(join(folder, name), '');
    expect((await list('.')).map(({ name }) => name).sort()).toEqual([...ODD].sort());
    expect((await list(folder)).map(({ path }) => path).sort()).toEqual(
      ODD.map((name) => `${folder}/${name}`).sort(),
    );
    mkdirSync(join(folder, '-many'));
    for (let each = 0; each < 350; each++) writeFileSync(join(folder, '-many', `f${each}`), '');
    expect(await list('-many')).toHaveLength(350);
  });

  needed('read and write: bytes as they are, odd names, empty files', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7) % 256));
    for (const name of ODD) {
      await files().write(name, Readable.from([bytes]), {}, call);
      expect(readFileSync(join(folder, name)).equals(bytes)).toBe(true);
      expect((await gather(await files().read(name, call))).equals(bytes)).toBe(true);
    }
    await files().write('-n', Readable.from([]), {}, call);
    expect((await gather(await files().read('-n', call))).length).toBe(0);
    expect(leftovers(folder)).toEqual([]);
  });

  needed('write: modes, missing folders, through links', async () => {
    await files().write('deep/er/f', Readable.from(['x']), { parents: true, mode: 0o741 }, call);
    expect(lstatSync(join(folder, 'deep/er/f')).mode & 0o7777).toBe(0o741);
    await files().write('deep/er/f', Readable.from(['y']), {}, call);
    expect(lstatSync(join(folder, 'deep/er/f')).mode & 0o7777).toBe(0o741);
    symlinkSync('deep/er/f', join(folder, 'l'));
    await files().write('l', Readable.from(['z']), {}, call);
    expect(readFileSync(join(folder, 'deep/er/f'), 'utf8')).toBe('z');
    expect(lstatSync(join(folder, 'l')).isSymbolicLink()).toBe(true);
  });

  needed('write: a content that fails or is given up leaves the old file', async () => {
    writeFileSync(join(folder, 'f'), 'old');
    const failing = Readable.from(
      (async function* () {
        yield 'half';
        throw new Error('the link is lost');
      })(),
    );
    await expect(files().write('f', failing, {}, call)).rejects.toThrow('the link is lost');
    const stop = new AbortController();
    const stalled = new PassThrough();
    stalled.write('half', () => stop.abort());
    await expect(files().write('f', stalled, {}, { signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(readFileSync(join(folder, 'f'), 'utf8')).toBe('old');
    expect(leftovers(folder)).toEqual([]);
  });

  needed('what is wrong is said by kind', async () => {
    mkdirSync(join(folder, 'd'));
    writeFileSync(join(folder, 'f'), '');
    const one = files();
    const notFound = { code: 'not_found' };
    await expect(one.stat('missing', call)).rejects.toMatchObject(notFound);
    await expect(one.stat('f/x', call)).rejects.toMatchObject(notFound);
    await expect(list('missing')).rejects.toMatchObject(notFound);
    await expect(list('f')).rejects.toThrow('not a directory');
    await expect(one.read('missing', call)).rejects.toMatchObject(notFound);
    await expect(one.read('d', call)).rejects.toThrow('is a directory');
    await expect(one.write('no/f', new PassThrough(), {}, call)).rejects.toMatchObject(notFound);
    await expect(one.write('d', Readable.from([]), {}, call)).rejects.toThrow('is a directory');
    await expect(one.write('f/x', Readable.from([]), { parents: true }, call)).rejects.toThrow(
      'not a directory',
    );
    await expect(one.write('/dev/null', Readable.from([]), {}, call)).rejects.toThrow('not a regular file');
    await expect(one.stat('', call)).rejects.toMatchObject({ code: 'usage' });
    await expect(one.stat('a\0b', call)).rejects.toMatchObject({ code: 'usage' });
    // busybox finds its own programs without any file.
    if (family === 'gnu')
      await expect(files({ without: ['stat', 'find'] }).stat('f', call)).rejects.toMatchObject({
        code: 'unsupported',
      });
  });

  needed('mkdir', async () => {
    await files().makeDirectory('-a', { parents: false, mode: 0o711 }, call);
    expect(lstatSync(join(folder, '-a')).mode & 0o777).toBe(0o711);
    await expect(files().makeDirectory('-a', { parents: false }, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(files().makeDirectory('x/y', { parents: false }, call)).rejects.toMatchObject({
      code: 'not_found',
    });
    await files().makeDirectory('x/y/new\nline', { parents: true }, call);
    await files().makeDirectory('x/y', { parents: true }, call);
    expect(lstatSync(join(folder, 'x/y/new\nline')).isDirectory()).toBe(true);
    writeFileSync(join(folder, 'f'), '');
    await expect(files().makeDirectory('f/y', { parents: true }, call)).rejects.toThrow('not a directory');
    await expect(files().makeDirectory('f', { parents: true }, call)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  needed('remove', async () => {
    mkdirSync(join(folder, 'd/e'), { recursive: true });
    for (const name of ODD) writeFileSync(join(folder, name), '');
    symlinkSync('d', join(folder, 'l'));
    for (const name of [...ODD, 'l']) await files().remove(name, { recursive: false, force: false }, call);
    expect(Object.keys(survey(folder))).toEqual(['', 'd', 'd/e']);
    await expect(files().remove('d', { recursive: false, force: false }, call)).rejects.toThrow(
      'is a directory',
    );
    await files().remove('d', { recursive: true, force: false }, call);
    await expect(files().remove('d', { recursive: true, force: false }, call)).rejects.toMatchObject({
      code: 'not_found',
    });
    await files().remove('d', { recursive: false, force: true }, call);
    for (const path of ['/', '//', '.', '..', 'x/..'])
      await expect(files().remove(path, { recursive: true, force: true }, call)).rejects.toMatchObject({
        code: 'usage',
      });
  });

  asRoot(hasFamily(family), `programs of ${family}`)('a plain user is denied by kind', async () => {
    const plain = files({ uid: 65534 });
    writeFileSync(join(folder, 'f'), '', { mode: 0o600 });
    mkdirSync(join(folder, 'closed'), { mode: 0o700 });
    const attempts = [
      () => plain.read('f', call),
      () => plain.stat('closed/x', call),
      () => plain.write('new', Readable.from(['x']), {}, call),
      () => plain.makeDirectory('new', { parents: true }, call),
      () => plain.remove('f', { recursive: false, force: false }, call),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow('permission denied');
  });

  asRoot(canMount && hasFamily(family), `the right to mount, and programs of ${family}`)(
    'a full disk is said to be one, and the old file stays',
    async () => {
      const disk = join(folder, 'disk');
      using _ = tinyDisk(disk);
      writeFileSync(join(disk, 'f'), 'old');
      await expect(
        files().write(`${disk}/f`, Readable.from([Buffer.alloc(200_000, 1)]), {}, call),
      ).rejects.toThrow('no space left');
      expect(readFileSync(join(disk, 'f'), 'utf8')).toBe('old');
      expect(leftovers(disk)).toEqual([]);
    },
  );

  needed(
    'watch: what is made, changed and removed, in folders below too',
    async () => {
      mkdirSync(join(folder, 'sub'));
      const stop = new AbortController();
      const seen: FileEvent[] = [];
      const has = (kind: string, name: string) =>
        seen.some((event) => event.kind === kind && event.path.endsWith(name));
      // Watching has no sign that it began: keep changing until it is noticed.
      const steps: readonly (readonly [() => void, () => boolean])[] = [
        [
          () => writeFileSync(join(folder, 'sub/new\nline'), String(Math.random())),
          () => has('changed', 'sub/new\nline') || has('created', 'sub/new\nline'),
        ],
        [() => appendFileSync(join(folder, 'sub/new\nline'), 'more'), () => has('changed', 'sub/new\nline')],
        [
          () => renameSync(join(folder, 'sub/new\nline'), join(folder, 'moved')),
          () => has('removed', 'sub/new\nline') && has('created', 'moved'),
        ],
      ];
      let step = 0;
      let done = false;
      const poke = setInterval(() => {
        while (steps[step]?.[1]() === true) step++;
        done = step === steps.length;
        if (done) stop.abort();
        else if (step < 2) steps[step]?.[0]();
        else if (lstatSync(join(folder, 'sub/new\nline'), { throwIfNoEntry: false }) !== undefined)
          steps[step]?.[0]();
      }, 100);
      const watching = (async () => {
        for await (const event of files().watch?.(folder, { recursive: true }, { signal: stop.signal }) ?? [])
          seen.push(event);
      })();
      await expect(watching.finally(() => clearInterval(poke))).rejects.toMatchObject({ name: 'AbortError' });
      expect(done).toBe(true);
    },
    30_000,
  );

  needed('watch: a missing path', async () => {
    const watching = (async () => {
      for await (const _ of files().watch?.('missing', { recursive: true }, call) ?? []);
    })();
    await expect(watching).rejects.toMatchObject({ code: 'not_found' });
  });
});

requireOrSkip(hasFamily('gnu'), 'programs of gnu')(
  'find makes up for a stat that does not work, as in gVisor',
  async () => {
    writeFileSync(join(folder, 'f'), 'text', { mode: 0o641 });
    mkdirSync(join(folder, 'd'));
    symlinkSync('f', join(folder, 'd', 'l'));
    symlinkSync('to\nwhere ', join(folder, 'd', 'odd\nname'));
    const [whole, lame] = [{}, { without: ['stat'] }].map((options) =>
      deriveFiles(guestShell('gnu', folder, options)),
    );
    for (const path of ['f', 'd', 'd/l', '/dev/null', '/'])
      expect(await lame?.stat(path, call)).toEqual(await whole?.stat(path, call));
    const list = async (files: typeof whole) => files && (await Array.fromAsync(files.list('d', call)));
    expect(await list(lame)).toEqual(await list(whole));
  },
);
