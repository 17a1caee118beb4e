/** Backups of the workspace. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { identifier, moment } from './shapes.ts';

interface Backup {
  readonly backupId: string;
  readonly sandboxId: string;
}

export function backupsTopic(h: Harness): void {
  const write = (id: string, path: string, content: string) =>
    h.answer(200, `POST /sandboxes/${id}/files/write`, { path, content });
  const backUp = (id: string) => h.answer<Backup>(201, `POST /sandboxes/${id}/backups`);
  const all = async () => (await h.answer<{ backups: Backup[] }>(200, 'GET /backups')).backups;
  const drop = (backupId: string) => h.answer(200, `DELETE /backups/${backupId}`);

  test('a backup is listed with its sandbox and among all', async () => {
    const { id } = await h.sandbox();
    const to = `GET /sandboxes/${id}/backups` as const;
    expect(await h.answer(200, to)).toStrictEqual({ backups: [] });
    await write(id, '/workspace/file', 'x');
    const backup = await backUp(id);
    const fields = { backupId: identifier, sandboxId: id, createdAt: moment, bytes: expect.any(Number) };
    expect(backup).toStrictEqual(fields);
    expect(backup).toMatchObject({ bytes: expect.toSatisfy((bytes: number) => bytes > 0) });
    expect(await h.answer(200, to)).toStrictEqual({ backups: [backup] });
    expect(await all()).toContainEqual(backup);
    const other = await h.sandbox();
    expect(await h.answer(200, `GET /sandboxes/${other.id}/backups`)).toStrictEqual({ backups: [] });
    await drop(backup.backupId);
  });

  test('restoring brings the files back as they were, and nothing else stays', async () => {
    const { id } = await h.sandbox({
      setup: ['mkdir -p a/b', 'echo run > a/b/run', 'chmod 750 a/b/run', 'ln -s a link'],
    });
    await write(id, '/workspace/changed', 'before');
    const { backupId } = await backUp(id);
    await h.say(id, 'rm -r a link; echo after > changed; echo > new');
    for (const round of [1, 2]) {
      expect(await h.answer(200, `POST /sandboxes/${id}/restore`, { backupId })).toStrictEqual({
        id,
        restored: backupId,
      });
      expect(await h.say(id, 'cat changed link/b/run; stat -c %a a/b/run; ls')).toBe(
        'beforerun\n750\na\nchanged\nlink',
      );
      if (round === 1) await h.say(id, 'rm -r a changed');
    }
    await drop(backupId);
  });

  test('a backup goes into another sandbox, and outlives its own', async () => {
    const { id } = await h.sandbox();
    await write(id, '/workspace/file', 'mine');
    const { backupId } = await backUp(id);
    await h.answer(200, `DELETE /sandboxes/${id}`);
    expect(await all()).toContainEqual(expect.objectContaining({ backupId, sandboxId: id }));
    const other = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${other.id}/restore`, { backupId });
    expect(await h.say(other.id, 'cat file')).toBe('mine');
    await drop(backupId);
  });

  test('one that is deleted is gone', async () => {
    const { id } = await h.sandbox();
    const { backupId } = await backUp(id);
    expect(await drop(backupId)).toStrictEqual({ backupId, deleted: true });
    expect((await all()).map((each) => each.backupId)).not.toContain(backupId);
    expect(await h.refusal(404, `DELETE /backups/${backupId}`)).toBe('backup not found');
    expect(await h.refusal(404, `POST /sandboxes/${id}/restore`, { backupId })).toBe('backup not found');
  });

  test.each([{}, { backupId: 5 }, { backupId: null }])('restoring %j is refused', async (body) => {
    const { id } = await h.shared();
    expect(await h.refusal(400, `POST /sandboxes/${id}/restore`, body)).toBe('backupId is required');
  });

  test.each(['no-such-backup', '../../etc/passwd', ''])('there is no backup %j', async (backupId) => {
    const { id } = await h.shared();
    expect(await h.refusal(404, `POST /sandboxes/${id}/restore`, { backupId })).toBe('backup not found');
  });

  test('a stopped sandbox is restored into no sooner than it is started, and what is asked is looked at first', async () => {
    const { id } = await h.sandbox();
    const { backupId } = await backUp(id);
    await h.answer(200, `POST /sandboxes/${id}/stop`);
    const restore = (status: number, body: unknown) =>
      h.refusal(status, `POST /sandboxes/${id}/restore`, body);
    expect(await restore(400, {})).toBe('backupId is required');
    expect(await restore(404, { backupId: 'no-such-backup' })).toBe('backup not found');
    expect(await restore(409, { backupId })).toBe('sandbox is stopped; start it first');
    await drop(backupId);
  });
}
