/**
 * The mark of a sandbox that is being started or stopped: whatever of it still runs when its client is gone has to end.
 * It is there before the first cgroup or process is, and knows where to look for them.
 */
import * as fs from 'node:fs';
import { hasErrno, SbxError } from '../../errors.ts';
import { readJsonFile, writeJsonFile } from '../../store/json-file.ts';
import { currentBootId } from './init-process.ts';

interface Unsettled {
  readonly bootId: string;
  readonly cgroups: readonly string[];
}

/** Sets the mark at `path`. @param cgroups folders that may be there already or soon. */
export function markUnsettled(path: string, cgroups: readonly string[]): void {
  writeJsonFile(path, { bootId: currentBootId(), cgroups } satisfies Unsettled, { durable: false });
}

/** {@link markUnsettled} where there is room for it: a full disk must not keep anybody from stopping things. */
export function tryMarkUnsettled(path: string, cgroups: readonly string[]): void {
  try {
    markUnsettled(path, cgroups);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** The cgroup folders that the mark names; undefined when there is no mark. Those of an earlier boot are gone. */
export function readUnsettled(path: string): readonly string[] | undefined {
  try {
    const mark = readJsonFile(path, validate);
    return mark?.bootId === currentBootId() ? mark.cgroups : mark && [];
  } catch (error) {
    // A mark that cannot be read still is one.
    if (error instanceof SbxError) return [];
    throw error;
  }
}

/** Takes the mark away: what runs is as it shall be. */
export function settle(path: string): void {
  fs.rmSync(path, { force: true });
}

/** Whether a write failed for want of space. */
export function isDiskFull(error: unknown): boolean {
  return hasErrno(error instanceof SbxError ? error.cause : error, 'ENOSPC', 'EDQUOT');
}

function validate(value: unknown): Unsettled {
  const mark = value as Partial<Unsettled> | null;
  if (!Array.isArray(mark?.cgroups) || !mark.cgroups.every((path) => typeof path === 'string'))
    throw new Error('it does not name cgroups');
  return mark as Unsettled;
}
