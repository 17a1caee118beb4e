/** Which process of a listing a reference means. Pure. */
import type { ProcessInfo } from './contract.ts';

/** Orders by time of start; in a listing, those of one second stay in their order. */
export function byStart(a: ProcessInfo, b: ProcessInfo): number {
  const [left, right] = [a.startedAt ?? '', b.startedAt ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The process of a listing that `ref` means: an id, or a name, of which the running one counts, else the one that
 * started last.
 */
export function pickProcess<P extends ProcessInfo>(processes: readonly P[], ref: string): P | undefined {
  const byId = processes.find(({ id }) => id === ref);
  if (byId !== undefined) return byId;
  const named = processes.filter(({ name }) => name === ref).sort(byStart);
  return named.findLast(({ state }) => state === 'running') ?? named.at(-1);
}
