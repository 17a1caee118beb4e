import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readLocalTree } from '../../../../src/lib/ops/copy/local-read.ts';
import { writeLocalTree } from '../../../../src/lib/ops/copy/local-write.ts';
import { ALL, excluding, gitignored, type Selection } from '../../../../src/lib/ops/copy/select.ts';
import type { Tree, TreeEvent } from '../../../../src/lib/ops/copy/tree.ts';
import { asPlainUser } from '../../../support/require.ts';
import { mounting, tinyDisk } from '../../../support/tiny-disk.ts';
import { anyTree, chunked, events, leftovers, plant, scrap, survey } from './trees.ts';

const signal = new AbortController().signal;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-local-'));
});
afterEach(() => scrap(folder));

const read = (path: string, name = '.', selection: Selection = ALL) =>
  readLocalTree(path, { name, follow: false, selection, signal });
const write = (tree: Tree, parent = folder) => writeLocalTree(parent, tree, { keepOwner: false, signal });
const file = (path: string, content: string | Buffer): TreeEvent[] => [
  {
    kind: 'entry',
    entry: { path, type: 'file', mode: 0o644, uid: 0, gid: 0, mtimeMs: 5000, size: content.length },
  },
  { kind: 'data', data: Buffer.from(content) },
];

async function paths(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  for await (const event of tree) if (event.kind === 'entry') found.push(event.entry.path);
  return found.sort();
}

test('any tree is written as it was read', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(anyTree, async (node) => {
      const name = `from${++round}`;
      plant(join(folder, name), node);
      await write(read(join(folder, name), `to${round}`));
      expect(survey(join(folder, `to${round}`))).toEqual(survey(join(folder, name)));
    }),
    { numRuns: 30 },
  );
  expect(leftovers(folder)).toEqual([]);
});

test('hard links stay links of one file', async () => {
  mkdirSync(join(folder, 'a'));
  writeFileSync(join(folder, 'a/1'), 'x');
  linkSync(join(folder, 'a/1'), join(folder, 'a/2'));
  await write(read(join(folder, 'a'), 'b'));
  expect(statSync(join(folder, 'b/1')).ino).toBe(statSync(join(folder, 'b/2')).ino);
});

test('directories merge: what only the destination has stays', async () => {
  mkdirSync(join(folder, 'd/sub'), { recursive: true });
  writeFileSync(join(folder, 'd/sub/old'), 'old');
  writeFileSync(join(folder, 'd/sub/both'), 'old');
  await write(events([...file('d/sub/both', 'new'), ...file('d/more/x', 'x')]));
  expect(readFileSync(join(folder, 'd/sub/old'), 'utf8')).toBe('old');
  expect(readFileSync(join(folder, 'd/sub/both'), 'utf8')).toBe('new');
  expect(readFileSync(join(folder, 'd/more/x'), 'utf8')).toBe('x');
});

test('a conflict is found before anything is written', async () => {
  mkdirSync(join(folder, 'z'));
  for (const tree of [[...file('a', 'x'), ...file('z', 'x')], file('f/x', 'x')]) {
    writeFileSync(join(folder, 'f'), '');
    const before = survey(folder, { times: false });
    await expect(write(events(tree))).rejects.toMatchObject({ code: 'conflict' });
    expect(survey(folder, { times: false })).toEqual(before);
  }
});

test.each([
  [
    'fails',
    async function* (): Tree {
      yield* events(file('a', 'x'));
      throw new Error('the link is lost');
    },
  ],
  ['ends inside a file', () => events([...file('a', 'x'), ...file('b', 'yy').slice(0, 1)])],
])('a tree that %s leaves nothing', async (_, tree) => {
  writeFileSync(join(folder, 'a'), 'old');
  await expect(write(tree())).rejects.toThrow();
  expect(Object.keys(survey(folder))).toEqual(['', 'a']);
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('old');
});

test('an abort half-way leaves nothing', async () => {
  const stop = new AbortController();
  const tree = async function* (): Tree {
    yield* events(file('a', 'x'));
    stop.abort();
    yield* events(file('b', 'x'));
  };
  await expect(
    writeLocalTree(folder, tree(), { keepOwner: false, signal: stop.signal }),
  ).rejects.toMatchObject({ name: 'AbortError' });
  expect(Object.keys(survey(folder))).toEqual(['']);
});

mounting('a full disk is said to be one, and nothing stays', async () => {
  const disk = join(folder, 'disk');
  using _ = tinyDisk(disk);
  await expect(write(events(file('big', Buffer.alloc(200_000, 1))), disk)).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('no space left'),
  });
  expect(Object.keys(survey(disk))).toEqual(['']);
});

test('zeros become holes, and the bytes are the same', async () => {
  const size = 8 * 1024 * 1024;
  writeFileSync(join(folder, 'a'), 'start');
  truncateSync(join(folder, 'a'), size);
  await write(read(join(folder, 'a'), 'b'));
  expect(statSync(join(folder, 'b')).blocks * 512).toBeLessThan(size / 2);
  expect(readFileSync(join(folder, 'b')).equals(readFileSync(join(folder, 'a')))).toBe(true);
});

test('holes fall where blocks are, whatever the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(0, 0, 7), fc.integer({ min: 1, max: 9000 })), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.integer({ min: 1, max: 9000 }),
      async (runs, chunk) => {
        const content = Buffer.concat(runs.map(([value, length]) => Buffer.alloc(length, value)));
        const tree = async function* (): Tree {
          yield* events(file('f', content).slice(0, 1));
          for await (const data of chunked(content, chunk)) yield { kind: 'data', data };
        };
        await write(tree());
        expect(readFileSync(join(folder, 'f')).equals(content)).toBe(true);
      },
    ),
    { numRuns: 50 },
  );
});

test('what is no file, directory or link is refused by name', async () => {
  mkdirSync(join(folder, 'd'));
  execFileSync('mkfifo', [join(folder, 'd/pipe')]);
  await expect(paths(read(join(folder, 'd')))).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('is a fifo'),
  });
  expect(await paths(read(join(folder, 'd'), '.', await excluding(['pipe'])))).toEqual(['.']);
});

asPlainUser('what cannot be read or written is an error', async () => {
  writeFileSync(join(folder, 'f'), '');
  chmodSync(join(folder, 'f'), 0);
  await expect(paths(read(join(folder, 'f'), 'f'))).rejects.toThrow('permission denied');
  chmodSync(folder, 0o555);
  await expect(write(events(file('x', 'x')))).rejects.toThrow('permission denied');
  chmodSync(folder, 0o755);
});

describe('what is left out', () => {
  beforeEach(() => {
    for (const path of ['.git', 'src/deep', 'node_modules/m'])
      mkdirSync(join(folder, path), { recursive: true });
    for (const path of [
      'a.log',
      'src/b.log',
      'src/keep.log',
      'src/deep/c.txt',
      'node_modules/m/i.js',
      'A.LOG',
    ])
      writeFileSync(join(folder, path), '');
    symlinkSync('a.log', join(folder, 'link.log'));
  });

  test('--exclude: patterns of a .gitignore below the source, with case', async () => {
    expect(
      await paths(read(folder, '.', await excluding(['*.log', '!keep.log', '/node_modules', 'src/deep/']))),
    ).toEqual(['.', '.git', 'A.LOG', 'src', 'src/keep.log']);
  });

  test('--gitignore: nested files, and those above up to the repository', async () => {
    writeFileSync(join(folder, '.gitignore'), '*.log\nnode_modules/\n');
    writeFileSync(join(folder, 'src/.gitignore'), '!keep.log\ndeep\n');
    expect(await paths(read(folder, '.', await gitignored(folder, ALL)))).toEqual([
      '.',
      '.git',
      '.gitignore',
      'A.LOG',
      'src',
      'src/.gitignore',
      'src/keep.log',
    ]);
    const sub = join(folder, 'src');
    expect(await paths(read(sub, '.', await gitignored(sub, ALL)))).toEqual(['.', '.gitignore', 'keep.log']);
  });
});

test('2 GB stream through in bounded memory', { timeout: 20_000 }, async () => {
  const big = join(folder, 'big');
  writeFileSync(big, 'start');
  truncateSync(big, 2 * 1024 ** 3);
  const program = fileURLToPath(new URL('./stream-big.ts', import.meta.url));
  const output = execFileSync(process.execPath, ['--no-warnings', program, big, join(folder, 'out')], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  const { peak, size } = JSON.parse(output) as { peak: number; size: number };
  expect(size).toBe(2 * 1024 ** 3);
  expect(peak).toBeLessThan(200 * 1024 * 1024);
  expect(lstatSync(join(folder, 'out/big')).size).toBe(size);
});
