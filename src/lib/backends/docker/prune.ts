/** What nobody needs any more: expired sandboxes, half-made ones, images of forks that are gone. Only what carries our labels. */
import type { Call, PrunedItem } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Listed, ListedImage } from './api.ts';
import type { Docker } from './box.ts';
import { boxOf } from './box.ts';
import { renameContainer } from './create.ts';
import { removeContainer } from './destroy.ts';
import { segment } from './engine.ts';
import { FORK_LABEL, factsOf, idOf } from './facts.ts';
import { inspect, listContainers } from './find.ts';
import { isExpired, plainName } from './info.ts';
import { removePipes, strayPipes } from './pipes.ts';
import { isBeginning, START_LIMIT, unfinishedName } from './unfinished.ts';

/** Removes it, or with `dryRun` only tells. */
export async function prune(docker: Docker, dryRun: boolean, call: Call): Promise<PrunedItem[]> {
  const items: PrunedItem[] = [];
  const all = await listContainers({ ...docker, showsAll: false }, call, { all: true });
  const names = new Set(all.map(({ Names }) => plainName(Names?.[0] ?? '')));
  for (const container of all) {
    const { Id, Names, Labels } = container;
    if (idOf(Labels) === undefined) continue;
    const name = plainName(Names?.[0] ?? Id);
    const unfinished = unfinishedName(name);
    const reason = reasonToRemove(container, unfinished !== undefined);
    if (unfinished?.kind === 'old' && !names.has(unfinished.name)) {
      // The other one never came to have its name.
      items.push({ kind: 'half-made restore', id: unfinished.name, reason: 'its client was killed' });
      const found = dryRun ? undefined : await inspect(docker.engine, Id, call);
      if (found !== undefined) await renameContainer(boxOf(docker, found), unfinished.name, call);
      continue;
    }
    if (reason === undefined) continue;
    items.push({
      kind: unfinished === undefined ? 'sandbox' : 'half-made sandbox',
      id: unfinished?.name ?? name,
      reason,
    });
    if (!dryRun) await removeContainer(docker, Id, call);
  }
  items.push(...(await pruneForks(docker, dryRun, call)));
  items.push(...(await prunePipes(docker, all, dryRun)));
  return items;
}

/** Of sandboxes that somebody else removed. Those of one that is being made at this moment are young. */
async function prunePipes(docker: Docker, all: readonly Listed[], dryRun: boolean): Promise<PrunedItem[]> {
  const present = new Set(all.flatMap(({ Labels }) => idOf(Labels) ?? []));
  const stray = await strayPipes(docker, present, Date.now() - START_LIMIT * 1000);
  if (!dryRun) for (const id of stray) removePipes(docker, id);
  return stray.map((id) => ({ kind: 'pipes of a sandbox', id, reason: 'the sandbox is gone' }));
}

/** Why nobody needs a container; undefined when somebody may. */
function reasonToRemove(container: Listed, isUnfinished: boolean): string | undefined {
  const { State } = container;
  const facts = factsOf(container.Labels);
  if (isExpired(facts)) return 'its time to live is over';
  if (isBeginning(container)) return undefined;
  if (isUnfinished) return State === 'running' ? undefined : 'its client was killed';
  const neverStarted = State === 'created' && facts !== undefined && facts.restored !== true;
  return neverStarted ? 'its client was killed while it was made' : undefined;
}

async function pruneForks(docker: Docker, dryRun: boolean, call: Call): Promise<PrunedItem[]> {
  const filters = JSON.stringify({ label: [`${FORK_LABEL}=copy`], dangling: ['true'] });
  const images = (await docker.engine.json(
    { method: 'GET', path: '/images/json', query: { filters }, what: 'list images of forks' },
    call,
  )) as readonly ListedImage[];
  const items: PrunedItem[] = [];
  for (const { Id, Size } of images) {
    if (await isUsed(docker, Id, call)) continue;
    const path = `/images/${segment(Id)}`;
    try {
      if (!dryRun)
        await docker.engine.json({ method: 'DELETE', path, what: 'remove the image of a fork' }, call);
      items.push({
        kind: 'image of a fork',
        id: Id.replace('sha256:', '').slice(0, 12),
        reason: 'no sandbox needs it',
        size: Size,
      });
    } catch (error) {
      // Somebody has begun to use it, or another client was faster.
      if (!(error instanceof SbxError) || (error.code !== 'conflict' && error.code !== 'not_found'))
        throw error;
    }
  }
  return items;
}

async function isUsed(docker: Docker, image: string, call: Call): Promise<boolean> {
  const filters = JSON.stringify({ ancestor: [image] });
  const query = { all: true, filters };
  const found = await docker.engine.json(
    { method: 'GET', path: '/containers/json', query, what: 'list containers' },
    call,
  );
  return (found as readonly unknown[]).length > 0;
}
