/** Backups and restores of sandboxes of the local backend, where something is in the way. */
import { readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { servedApi, test, unavailable } from './served-api.ts';

const { api, folder, restart } = servedApi();
let place = '';
let id = '';
beforeAll(async () => {
  if (unavailable !== undefined) return;
  place = join(folder(), 'serve/backups');
  ({ id } = await api.answer<{ id: string }>(201, 'POST /sandboxes'));
});

interface Backup {
  readonly backupId: string;
  readonly bytes: number;
}

const backUp = () => api.answer<Backup>(201, `POST /sandboxes/${id}/backups`);
const files = () => api.say(id, 'ls -A; cat * 2>/dev/null || true');

test('a backup that is cut or is none leaves the workspace as it was', async () => {
  await api.say(id, 'rm -rf * .[!.]*; head -c 100000 /dev/urandom > large');
  const { backupId, bytes } = await backUp();
  const file = join(place, `${backupId}.tar.gz`);
  await api.say(id, 'rm large; echo now > file');
  const refused = async () => {
    const body = await api.answer(422, `POST /sandboxes/${id}/restore`, { backupId });
    expect(await files()).toBe('file\nnow');
    return body;
  };
  await truncate(file, Math.floor(bytes / 2));
  await refused();
  await writeFile(file, 'this is text');
  await refused();
  await rm(file);
  expect(await refused()).toMatchObject({ error: expect.stringMatching(/^the backup cannot be read: /) });
});

test('owners, modes and empty folders come back', async () => {
  await api.say(id, 'rm -rf *; mkdir -p a/empty; echo x > a/file; chown 1000:1001 a/file; chmod 4751 a/file');
  const { backupId } = await backUp();
  await api.say(id, 'rm -rf *');
  await api.answer(200, `POST /sandboxes/${id}/restore`, { backupId });
  expect(await api.say(id, 'stat -c "%n %a %u %g" a/file a/empty')).toBe(
    'a/file 4751 1000 1001\na/empty 755 0 0',
  );
});

test('backups and restores of one sandbox come one after the other', async () => {
  await api.say(id, 'rm -rf *; for n in $(seq 30); do echo x > $n; done');
  const { backupId } = await backUp();
  const others = await Promise.all([
    ...[1, 2, 3].map(() => api.answer(200, `POST /sandboxes/${id}/restore`, { backupId })),
    ...[1, 2, 3].map(() => backUp()),
  ]);
  expect(await api.say(id, 'ls -A | wc -l')).toBe('30');
  await api.say(id, 'rm -rf *');
  const last = others.at(-1) as Backup;
  await api.answer(200, `POST /sandboxes/${id}/restore`, { backupId: last.backupId });
  expect(await api.say(id, 'ls -A | wc -l')).toBe('30');
});

test('what a former server has not finished is removed, and what has a record is kept', async () => {
  const { backupId } = await backUp();
  await writeFile(join(place, 'bkdead.tar.gz'), 'no record');
  await writeFile(join(place, 'bkdead.tar.gz.part'), 'half');
  await restart();
  const names = await readdir(place);
  expect(names).toContain(`${backupId}.tar.gz`);
  expect(names.filter((name) => name.startsWith('bkdead'))).toEqual([]);
});
