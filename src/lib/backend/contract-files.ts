/** The part of the contract that is about files. Types only; see contract.ts for the conventions. */
import type { Readable } from 'node:stream';
import type { Call } from './contract.ts';

/** Trees as tar streams (POSIX pax or GNU; the reader takes both). */
export interface Archive {
  /**
   * A tar of `path`: the top entry is the last part of the path. With `contents`, the entries are those below it, named from `.`.
   * Rejects with `not_found` before any byte when the path is missing. The stream fails when the sandbox's side fails: a cut archive never ends well.
   */
  read(path: string, options: ArchiveReadOptions, call: Call): Promise<Readable>;
  /** Unpacks a tar into the existing directory `directory`. Resolves when all is written. Existing files are replaced whole. */
  write(
    directory: string,
    tar: Readable,
    options: { readonly owner?: 'keep' | 'self' },
    call: Call,
  ): Promise<void>;
}

export interface ArchiveReadOptions {
  readonly contents?: boolean | undefined;
  /** Follow the symlink that `path` itself is. */
  readonly dereference?: boolean | undefined;
  readonly exclude?: readonly string[] | undefined;
}

export type FileType = 'file' | 'directory' | 'symlink' | 'other';

export interface FileStat {
  readonly path: string;
  readonly name: string;
  readonly type: FileType;
  readonly size: number;
  /** Permission bits only. */
  readonly mode: number;
  readonly modifiedAt: string;
  readonly user?: string | undefined;
  readonly group?: string | undefined;
  /** Of a symlink. */
  readonly target?: string | undefined;
}

export interface FileEvent {
  readonly kind: 'created' | 'changed' | 'removed';
  readonly path: string;
  readonly type?: FileType | undefined;
}

/** Single files and folders. Paths are absolute or relative to the workdir. Errors: `not_found`, `failed` with the system's reason. */
export interface Files {
  stat(path: string, call: Call): Promise<FileStat>;
  list(path: string, call: Call): AsyncIterable<FileStat>;
  read(path: string, call: Call): Promise<Readable>;
  /** Writes to a neighbour and renames: the final name holds the old file or the whole new one. Keeps the mode of a file that is there. */
  write(
    path: string,
    content: Readable,
    options: { readonly mode?: number | undefined; readonly parents?: boolean | undefined },
    call: Call,
  ): Promise<void>;
  makeDirectory(
    path: string,
    options: { readonly parents: boolean; readonly mode?: number | undefined },
    call: Call,
  ): Promise<void>;
  remove(
    path: string,
    options: { readonly recursive: boolean; readonly force: boolean },
    call: Call,
  ): Promise<void>;
  watch?(path: string, options: { readonly recursive: boolean }, call: Call): AsyncIterable<FileEvent>;
}
