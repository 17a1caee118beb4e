/** The part of the contract that is about files. Types only; see contract.ts for the conventions. */
import type { Readable } from 'node:stream';
import type { Call } from './contract.ts';

/** Trees as tar streams (POSIX pax or GNU; the reader takes both). */
export interface Archive {
  /** What is at `path`, symlinks not followed, where a backend can tell sooner than `files.stat`; undefined where it cannot. */
  typeOf?(path: string, call: Call): Promise<FileType | 'missing' | undefined>;
  /**
   * A tar of `path`: the top entry is the last part of the path. With `contents`, the entries are those below it, named from `.`.
   * Rejects with `not_found` before any byte when the path is missing. The stream fails when the sandbox's side fails: a cut archive never ends well.
   */
  read(path: string, options: ArchiveReadOptions, call: Call): Promise<Readable>;
  /** Unpacks a tar into the existing directory `directory`. Resolves when all is written. Existing files are replaced whole. */
  write(directory: string, tar: Readable, options: ArchiveWriteOptions, call: Call): Promise<void>;
}

export interface ArchiveWriteOptions extends ArchivePace {
  readonly owner?: 'keep' | 'self' | undefined;
}

export interface ArchivePace {
  /**
   * The other end is this machine's disk, which keeps up. Without, it may be a person's pipe or the same sandbox, and a
   * backend must not hold up the sandbox meanwhile.
   */
  readonly steady?: boolean | undefined;
}

export interface ArchiveReadOptions extends ArchivePace {
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

export interface WatchOptions {
  readonly recursive: boolean;
  /** Milliseconds between looks, where changes are found by looking; default 1000. */
  readonly pauseMs?: number | undefined;
  /** Called when what changes from now on will be told, where the backend can say so. */
  readonly onBegun?: (() => void) | undefined;
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
  watch?(path: string, options: WatchOptions, call: Call): AsyncIterable<FileEvent>;
}
