/** The files of the dashboard: what the build made of `page/`, and xterm.js as its makers publish it. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SbxError } from '../../errors.ts';

export type AssetType = 'text/html' | 'text/css' | 'text/javascript' | 'text/plain' | 'image/svg+xml';

export interface Asset {
  readonly type: AssetType;
  readonly body: Buffer;
  /** Changes with the bytes. */
  readonly tag: string;
}

/** The page itself. */
export const PAGE = 'index.html';

/** What the page loads, by name. */
export const PARTS: Readonly<Record<string, AssetType>> = {
  'page.css': 'text/css',
  'page.js': 'text/javascript',
  'icon.svg': 'image/svg+xml',
  'xterm.css': 'text/css',
  'xterm.mjs': 'text/javascript',
  'addon-fit.mjs': 'text/javascript',
  'xterm-license.txt': 'text/plain',
};

/** From the folder that this code runs in to the one of the build: code lies in dist/chunks/, or in this file's own folder. */
const DEEPEST = 5;

/** Reads a file of the dashboard once, however often it is asked for. */
export function openAssets(): (name: string) => Promise<Asset> {
  const read = new Map<string, Promise<Asset>>();
  return (name) => {
    const known = read.get(name) ?? load(name);
    read.set(name, known);
    return known;
  };
}

async function load(name: string): Promise<Asset> {
  const body = await readFile(join(assetFolder(), name));
  const hash = createHash('sha256').update(body).digest('base64url');
  return { type: PARTS[name] ?? 'text/html', body, tag: `"${hash}"` };
}

function assetFolder(): string {
  let folder = import.meta.dirname;
  for (let depth = 0; depth < DEEPEST; depth++, folder = dirname(folder)) {
    const built = ['dashboard', 'dist/dashboard'].map((name) => join(folder, name));
    const found = built.find((each) => existsSync(join(each, 'page.js')));
    if (found !== undefined) return found;
  }
  throw new SbxError('failed', 'this installation of sbx is incomplete: the dashboard is missing', {
    hint: 'install sbx again',
  });
}
