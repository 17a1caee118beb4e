/**
 * Names of containers that are on their way: a sandbox that is being furnished, and the two of a restore. The engine
 * has nothing else of a container that can be changed, so a name is what tells whoever comes later.
 */

import type { Listed } from './api.ts';

/** Seconds after which a container that was never started is nobody's any more. */
export const START_LIMIT = 60;

/** Whether it was made a moment ago and its maker is about to start it. */
export function isBeginning({ State, Created }: Pick<Listed, 'State' | 'Created'>): boolean {
  return State === 'created' && Date.now() / 1000 - Created < START_LIMIT;
}

/** `new`: not finished. `old`: about to be replaced. */
export type Unfinished = 'new' | 'old';

const PATTERN = /^(.+)\.sbx-(new|old)-[0-9a-f]{8}$/;

/** The name of a container on its way to be `name`, or from there. @param mark eight hexadecimal digits. */
export function nameUnfinished(name: string, kind: Unfinished, mark: string): string {
  return `${name}.sbx-${kind}-${mark}`;
}

/** What such a name says; undefined for any other. */
export function unfinishedName(
  container: string,
): { readonly name: string; readonly kind: Unfinished } | undefined {
  const [, name, kind] = PATTERN.exec(container) ?? [];
  return name === undefined ? undefined : { name, kind: kind === 'old' ? 'old' : 'new' };
}
