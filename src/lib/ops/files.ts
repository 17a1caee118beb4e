/** Single files and folders of a sandbox. */
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, FileEvent, FileStat, Files, Sandbox } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { hasErrno, SbxError } from '../errors.ts';

/** A file operation's sandbox and what it needs. */
export interface FilesTarget {
  readonly sandbox: Sandbox;
  readonly having: CapabilityIndex;
}

/** The entries of a directory, by name; a file is listed as itself. @throws SbxError `not_found`, `failed` */
export async function listFiles(target: FilesTarget, path: string, call: Call): Promise<readonly FileStat[]> {
  const files = filesOf(target);
  const found = await files.stat(path, call);
  // A link to a directory lists the directory, as ls does with a slash.
  const directory =
    found.type === 'directory'
      ? path
      : found.type === 'symlink'
        ? await linkedDirectory(files, path, call)
        : undefined;
  if (directory === undefined) return [found];
  const all = await Array.fromAsync(files.list(directory, call));
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function statFile(target: FilesTarget, path: string, call: Call): Promise<FileStat> {
  return filesOf(target).stat(path, call);
}

/** Copies a file's bytes to `output`, which stays open. */
export async function catFile(
  target: FilesTarget,
  path: string,
  output: Writable,
  call: Call,
): Promise<void> {
  await pipeline(await filesOf(target).read(path, call), output, { end: false, signal: call.signal });
}

export interface WriteFileOptions {
  readonly mode?: number | undefined;
  readonly parents: boolean;
}

/** Replaces a file with `content`, whole or not at all. @returns the bytes written. */
export async function writeFile(
  target: FilesTarget,
  path: string,
  content: Readable,
  options: WriteFileOptions,
  call: Call,
): Promise<number> {
  let bytes = 0;
  const counted = Readable.from(
    (async function* () {
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        bytes += chunk.length;
        yield chunk;
      }
    })(),
    { objectMode: false },
  );
  try {
    await filesOf(target).write(path, counted, options, call);
  } finally {
    content.destroy();
  }
  return bytes;
}

/** A file of this machine to write from. @throws SbxError when it cannot be read. */
export async function openLocalFile(path: string): Promise<Readable> {
  const { open } = await import('node:fs/promises');
  try {
    const handle = await open(path);
    if ((await handle.stat()).isDirectory()) {
      await handle.close();
      throw new SbxError('failed', `'${path}' is a directory`, { hint: 'copy directories with sbx cp' });
    }
    return handle.createReadStream();
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR'))
      throw new SbxError('not_found', `no such file: '${path}'`, { cause });
    if (hasErrno(cause, 'EACCES'))
      throw new SbxError('failed', `cannot read '${path}': permission denied`, { cause });
    throw cause;
  }
}

export async function makeDirectory(
  target: FilesTarget,
  path: string,
  options: WriteFileOptions,
  call: Call,
): Promise<void> {
  await filesOf(target).makeDirectory(path, options, call);
}

export interface RemoveFileOptions {
  readonly recursive: boolean;
  /** A missing one is no error. */
  readonly force: boolean;
}

export async function removeFile(
  target: FilesTarget,
  path: string,
  options: RemoveFileOptions,
  call: Call,
): Promise<void> {
  await filesOf(target).remove(path, options, call);
}

/** Changes as they come, until the call is aborted, which ends it without an error. @throws SbxError `unsupported` */
export async function* watchFiles(
  target: FilesTarget,
  path: string,
  options: { readonly recursive: boolean },
  call: Call,
): AsyncGenerator<FileEvent, void, void> {
  const { watch } = filesOf(target);
  if (watch === undefined) {
    const { backend } = target.sandbox;
    throw new SbxError('unsupported', `backend '${backend}' cannot watch files`, {
      backend,
      hint: 'see what each backend can do: sbx capabilities',
    });
  }
  try {
    yield* watch(path, options, call);
  } catch (error) {
    if (!call.signal.aborted) throw error;
  }
}

/** Reads `755` or `0755`. @throws SbxError `usage` */
export function parseMode(text: string): number {
  if (!/^[0-7]{3,4}$/.test(text))
    throw new SbxError('usage', `not a mode: ${text}`, { hint: 'write it in octal, like 644 or 0755' });
  return Number.parseInt(text, 8);
}

async function linkedDirectory(files: Files, path: string, call: Call): Promise<string | undefined> {
  const inside = `${path.replace(/\/+$/, '')}/.`;
  try {
    return (await files.stat(inside, call)).type === 'directory' ? inside : undefined;
  } catch (cause) {
    if (cause instanceof SbxError && cause.code === 'not_found') return undefined;
    throw cause;
  }
}

function filesOf({ sandbox, having }: FilesTarget): Files {
  return need(sandbox, 'files', having);
}
