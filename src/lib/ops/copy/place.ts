/** What a source or destination of a copy names, and what goes where: the rules of `docker cp`. Pure. */
import { posix } from 'node:path';
import { SbxError } from '../../errors.ts';

/** One end of a copy. */
export type Place =
  | { readonly kind: 'local'; readonly path: string }
  /** Without `ref`: the default sandbox. */
  | { readonly kind: 'sandbox'; readonly ref: string | undefined; readonly path: string }
  /** A tar on standard input or output. */
  | { readonly kind: 'stream' };

/**
 * `-`; a local path, which starts with `/`, `./` or `../` or has no colon; else `NAME:PATH` or `BACKEND/NAME:PATH`, split
 * at the first colon. An empty PATH is the sandbox's workdir.
 */
export function parsePlace(text: string): Place {
  if (text === '-') return { kind: 'stream' };
  if (text === '' || text.includes('\0')) throw new SbxError('usage', 'a path is empty or has a NUL in it');
  const colon = text.indexOf(':');
  if (colon < 0 || /^(\/|\.\.?(\/|$))/.test(text)) return { kind: 'local', path: text };
  return { kind: 'sandbox', ref: text.slice(0, colon) || undefined, path: text.slice(colon + 1) || '.' };
}

/** A source as far as placing needs it. */
export interface SourceFacts {
  /** As it was typed, for errors. */
  readonly shown: string;
  readonly isDirectory: boolean;
  /** Its contents rather than itself: `/.` at the end. */
  readonly contents: boolean;
  /** What it is called. */
  readonly name: string;
}

/** What is at the destination. */
export type DestinationState = 'directory' | 'other' | 'missing';

/** An existing directory and the name in it; without `top` the contents go right into it. */
export interface Target {
  readonly parent: string;
  readonly top: string | undefined;
}

/** Where a source goes. @throws SbxError when it cannot go there. */
export function targetOf(source: SourceFacts, destination: string, state: DestinationState): Target {
  const slash = /\/\.?$/.test(destination);
  if (state === 'directory') return { parent: destination, top: source.contents ? undefined : source.name };
  if (source.isDirectory && state === 'other') {
    throw new SbxError(
      'conflict',
      `cannot copy directory '${source.shown}' over '${destination}', which is no directory`,
    );
  }
  if (slash && !source.isDirectory) {
    const code = state === 'missing' ? 'not_found' : 'conflict';
    throw new SbxError(code, `'${destination}' is not a directory`, {
      hint: 'leave the slash out to copy to that name',
    });
  }
  const path = destination.replace(/(?<=[^/])\/+\.?$/, '');
  return { parent: posix.dirname(path), top: posix.basename(path) };
}

/** Name of a path and whether only its contents are meant: `dir/.`, `.`, `..` and `/` have no name to copy under. */
export function nameOf(path: string): { readonly name: string; readonly contents: boolean } {
  const trimmed = path.replace(/(?<=.)\/+$/, '');
  const name = posix.basename(trimmed);
  const contents = name === '' || name === '.' || name === '..';
  return { name, contents };
}
