/** The ends of a copy: trees out of and into a sandbox, this machine, or a stream. */
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, Sandbox } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { directoriesLast } from './directories-last.ts';
import { readLocalTree } from './local-read.ts';
import { writeLocalTree } from './local-write.ts';
import { type DestinationState, nameOf, type SourceFacts } from './place.ts';
import { retop } from './retop.ts';
import { excluding, gitignored, selected } from './select.ts';
import { decodeTar } from './tar-decode.ts';
import { encodeTar } from './tar-encode.ts';
import type { RawEvent, Tree } from './tree.ts';

/** What to read, for all kinds of sources. */
export interface ReadOptions {
  readonly follow: boolean;
  readonly exclude: readonly string[];
  readonly gitignore: boolean;
  /** The other end is this machine's disk. */
  readonly steady: boolean;
}

/** Somewhere that trees come from. */
export interface SourceEnd {
  readonly facts: SourceFacts;
  /** The tree under the name `top`, or its contents. */
  read(top: string | undefined): AsyncIterable<RawEvent>;
}

/** Somewhere that trees go to. */
export interface DestinationEnd {
  state(): Promise<DestinationState>;
  /** The path that names are put in. */
  readonly path: string;
  write(parent: string, tree: Tree): Promise<void>;
}

export async function localSource(path: string, options: ReadOptions, call: Call): Promise<SourceEnd> {
  const found = await statLocal(path, options.follow || /\/\.?$/.test(path));
  if (found === undefined) throw new SbxError('not_found', `no such file or directory: '${path}'`);
  const isDirectory = found.isDirectory();
  const named = nameOf(path);
  const contents = named.contents && !/(^|\/)\.\.\/*$/.test(path) && resolve(path) !== '/';
  const name = named.contents ? basename(resolve(path)) : named.name;
  const follow = options.follow || /\/\.?$/.test(path);
  return {
    facts: { shown: path, isDirectory, contents: contents || name === '', name },
    async *read(top) {
      const base = await excluding(options.exclude);
      const start = follow ? await realpath(path) : resolve(path);
      const selection = options.gitignore ? await gitignored(start, base) : base;
      yield* readLocalTree(start, { name: top ?? '.', follow: false, selection, signal: call.signal });
    },
  };
}

export async function sandboxSource(
  sandbox: Sandbox,
  path: string,
  options: ReadOptions,
  having: CapabilityIndex,
  call: Call,
): Promise<SourceEnd> {
  const archive = need(sandbox, 'archive', having);
  const state = await stateInSandbox(sandbox, path, options.follow, having, call);
  if (state === 'missing') {
    throw new SbxError('not_found', `no such file or directory: '${path}' in sandbox '${sandbox.name}'`, {
      backend: sandbox.backend,
    });
  }
  const isDirectory = state === 'directory';
  return {
    facts: { shown: `${sandbox.name}:${path}`, isDirectory, ...nameOf(path) },
    async *read(top) {
      const contents = isDirectory;
      const exclude = options.exclude.some((pattern) => pattern.startsWith('!')) ? [] : options.exclude;
      const tar = await archive.read(
        path,
        {
          contents,
          dereference: options.follow,
          exclude: contents ? exclude : [],
          steady: options.steady,
        },
        call,
      );
      let events: AsyncIterable<RawEvent> = decodeTar(tar);
      if (contents) events = selected(events, await excluding(options.exclude), undefined);
      yield* top === undefined ? events : retop(events, contents ? 'contents' : 'single', top);
    },
  };
}

export function streamSource(input: Readable, options: ReadOptions): SourceEnd {
  return {
    facts: { shown: '-', isDirectory: true, contents: true, name: '' },
    async *read(top) {
      const events = selected(decodeTar(input), await excluding(options.exclude), undefined);
      yield* top === undefined ? events : retop(events, 'contents', top);
    },
  };
}

export function localDestination(path: string, keepOwner: boolean, call: Call): DestinationEnd {
  return {
    path,
    async state() {
      const found = await statLocal(path, true);
      if (found === undefined) return 'missing';
      return found.isDirectory() ? 'directory' : 'other';
    },
    write: (parent, tree) => writeLocalTree(parent, tree, { keepOwner, signal: call.signal }),
  };
}

export function sandboxDestination(
  sandbox: Sandbox,
  path: string,
  options: { readonly keepOwner: boolean; readonly steady: boolean },
  having: CapabilityIndex,
  call: Call,
): DestinationEnd {
  const archive = need(sandbox, 'archive', having);
  return {
    path,
    state: () => stateInSandbox(sandbox, path, true, having, call),
    async write(parent, tree) {
      const tar = Readable.from(encodeTar(directoriesLast(tree)), {
        objectMode: false,
        // What a pipe takes: more would be put together into larger pieces, and a writer of those waits in between.
        highWaterMark: 64 * 1024,
      });
      const owner = options.keepOwner ? 'keep' : 'self';
      await archive.write(parent, tar, { owner, steady: options.steady }, call);
    },
  };
}

export function streamDestination(output: Writable, call: Call): DestinationEnd {
  return {
    path: '-',
    state: async () => 'directory',
    write: (_parent, tree) => pipeline(encodeTar(tree), output, { end: false, signal: call.signal }),
  };
}

/** A trailing `/.` finds out what a symlink leads to; programs of all sandboxes understand it. */
async function stateInSandbox(
  sandbox: Sandbox,
  path: string,
  follow: boolean,
  having: CapabilityIndex,
  call: Call,
): Promise<DestinationState> {
  const { archive } = sandbox.can;
  const files = need(sandbox, 'files', having);
  const typeAt = async (at: string) => {
    const told = await archive?.typeOf?.(at, call);
    if (told !== undefined) return told;
    try {
      return (await files.stat(at, call)).type;
    } catch (cause) {
      if (cause instanceof SbxError && cause.code === 'not_found') return 'missing';
      throw cause;
    }
  };
  const plain = path.replace(/(?<=[^/])\/+$/, '');
  const type = await typeAt(plain);
  if (type === 'missing' || type === 'directory') return type;
  if (type !== 'symlink' || !(follow || path !== plain)) return 'other';
  return (await typeAt(`${plain}/.`)) === 'directory' ? 'directory' : 'other';
}

async function statLocal(path: string, follow: boolean) {
  try {
    return await (follow ? stat : lstat)(path);
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT')) return undefined;
    if (hasErrno(cause, 'ENOTDIR'))
      throw new SbxError('not_found', `no such directory: '${path}'`, { cause });
    if (hasErrno(cause, 'EACCES'))
      throw new SbxError('failed', `cannot look at '${path}': permission denied`, { cause });
    if (cause instanceof Error && 'code' in cause) {
      throw new SbxError('failed', `cannot look at '${path}': ${cause.message}`, { cause });
    }
    throw cause;
  }
}
