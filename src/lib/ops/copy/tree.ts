/** A tree of files as a stream: what every source of a copy gives and every destination takes. Types only. */

export type EntryType = 'file' | 'directory' | 'symlink' | 'hardlink';

/** One file, directory or link. */
export interface TreeEntry {
  /** Parts joined by `/`, no leading or trailing slash; `.` is the top itself. */
  readonly path: string;
  readonly type: EntryType;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Bytes that follow; 0 for anything but a file. */
  readonly size: number;
  /** Milliseconds since 1970, with fraction. */
  readonly mtimeMs: number;
  /** Where a symlink points, or the path of the entry that a hard link is another name of. */
  readonly target?: string;
}

/** An entry, or the next bytes of the file that was the last entry. A directory may come more than once; the last time counts. */
export type TreeEvent =
  | { readonly kind: 'entry'; readonly entry: TreeEntry }
  | { readonly kind: 'data'; readonly data: Uint8Array };

/** A tree as it arrives. Ends only when it is complete; fails otherwise. */
export type Tree = AsyncIterable<TreeEvent>;

/** An entry as an archive names it, not yet judged. */
export type RawEntry = Omit<TreeEntry, 'type'> & {
  readonly type: EntryType | 'other';
  /** What an `other` is, such as `a fifo`. */
  readonly what?: string;
};

/** Like {@link TreeEvent}, before the gate. */
export type RawEvent =
  | { readonly kind: 'entry'; readonly entry: RawEntry }
  | { readonly kind: 'data'; readonly data: Uint8Array };
