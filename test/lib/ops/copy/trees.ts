/** Trees on the disk for tests: random ones, and what is there as plain data to compare. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Tree, TreeEvent } from '../../../../src/lib/ops/copy/tree.ts';

/** A node of a tree to make. */
export type Node =
  | { readonly type: 'file'; readonly mode: number; readonly content: Uint8Array; readonly mtime: number }
  | { readonly type: 'symlink'; readonly target: string }
  | {
      readonly type: 'directory';
      readonly mode: number;
      readonly children: ReadonlyMap<string, Node>;
      readonly mtime: number;
    };

const SPECIAL = [
  'a b',
  '-n',
  '--help',
  'new\nline',
  'tab\t',
  'ü☃',
  '漢字',
  ' lead',
  '*',
  'q\'"',
  'back\\nslash',
  '.hidden',
  '..x',
  'x'.repeat(120),
  '$HOME',
  'é'.repeat(100),
];
const name = fc.oneof(
  fc.constantFrom(...SPECIAL),
  fc
    .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    .filter((text) => /^[^/\0\ufffd\ud800-\udfff]+$/u.test(text) && text !== '.' && text !== '..'),
);
const mtime = fc.integer({ min: 1, max: 1_700_000_000 });

/** Any tree, up to some depth. */
export const anyTree: fc.Arbitrary<Node & { type: 'directory' }> = fc.letrec<{
  node: Node;
  directory: Node & { type: 'directory' };
}>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      type: fc.constant('file' as const),
      mode: fc.constantFrom(0o644, 0o600, 0o755, 0o444, 0o4755),
      content: fc.uint8Array({ maxLength: 2000 }),
      mtime,
    }),
    fc.record({
      type: fc.constant('symlink' as const),
      target: fc.oneof(name, fc.constant(`d/${'t'.repeat(150)}`)),
    }),
    tie('directory'),
  ),
  directory: fc.record({
    type: fc.constant('directory' as const),
    mode: fc.constantFrom(0o755, 0o700, 0o555),
    children: fc
      .uniqueArray(fc.tuple(name, tie('node')), { maxLength: 5, selector: ([key]) => key.normalize('NFC') })
      .map((pairs) => new Map(pairs)),
    mtime,
  }),
})).directory;

/** Makes it at `path`. */
export function plant(path: string, node: Node): void {
  if (node.type === 'symlink') {
    symlinkSync(node.target, path);
    return;
  }
  if (node.type === 'file') writeFileSync(path, node.content);
  else {
    mkdirSync(path);
    for (const [key, child] of node.children) plant(join(path, key), child);
  }
  chmodSync(path, node.mode);
  utimesSync(path, node.mtime, node.mtime);
}

/** What to compare. */
export interface SurveyOptions {
  /** Bits of the mode. */
  readonly modes?: number;
  /** `files`: of files only. */
  readonly times?: boolean | 'files';
}

/** What is at `path`, by relative path. */
export function survey(path: string, options: SurveyOptions = {}): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (at: string, below: string): void => {
    const stat = lstatSync(at);
    const mode = (stat.mode & (options.modes ?? 0o7777)).toString(8);
    const time = options.times === false ? '' : ` ${Math.floor(stat.mtimeMs / 1000)}`;
    if (stat.isSymbolicLink()) found[below] = `link ${readlinkSync(at)}`;
    else if (stat.isDirectory()) {
      found[below] = `directory ${mode}${options.times === 'files' ? '' : time}`;
      for (const child of readdirSync(at)) visit(join(at, child), below === '' ? child : `${below}/${child}`);
    } else found[below] = `file ${mode}${time} ${readFileSync(at).toString('base64')}`;
  };
  visit(path, '');
  return found;
}

/** Removes a folder whatever the modes in it. */
export function scrap(path: string): void {
  open(path);
  rmSync(path, { recursive: true, force: true });
}

/** Makes all folders writable, so that a plain user can remove them. */
export function open(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  chmodSync(path, 0o755);
  for (const entry of readdirSync(path)) open(join(path, entry));
}

/**
 * What the tar of `family` keeps. busybox makes links to `..` last, which changes the times of their directories; run by
 * a plain user it leaves folders open to their owner and drops special bits.
 */
export function keptBy(family: 'gnu' | 'busybox'): SurveyOptions {
  if (family === 'gnu') return {};
  return process.getuid?.() === 0 ? { times: 'files' } : { times: 'files', modes: 0o577 };
}

/** Names in a folder that a copy left behind. */
export function leftovers(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((each) => each.includes('.sbx-'));
}

export async function* events(list: readonly TreeEvent[]): Tree {
  yield* list;
}

export async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export async function gather(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}
