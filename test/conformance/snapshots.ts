/** Pictures of a sandbox's files: taken, listed, brought back. */
import { expect, test } from 'vitest';
import type { Sandbox, SnapshotInfo } from '../../src/lib/backend/contract.ts';
import { call, endOf, type Harness, refusal, say, uniqueSleep, untilReady } from './harness.ts';
import { uniqueName } from './lifecycle.ts';

export function snapshotsConformance(h: Harness): void {
  const store = () => {
    const { snapshots } = h.backend().can;
    if (snapshots === undefined) throw new Error('no snapshots');
    return snapshots;
  };
  const take = async (
    sandbox: Sandbox,
    options: { name?: string; labels?: Record<string, string> } = {},
  ): Promise<SnapshotInfo> => {
    const info = await sandbox.can.snapshots?.create(options, call);
    if (info === undefined) throw new Error('no snapshots');
    return info;
  };
  const listed = async () => {
    const found: SnapshotInfo[] = [];
    for await (const info of store().list(call)) found.push(info);
    return found;
  };

  test('a snapshot of a running sandbox is what others start from', async () => {
    const sandbox = await h.sandbox();
    await say(
      sandbox,
      'mkdir -p "a dir/empty"; echo one > "a dir/file"; ln -s "a dir/file" link; chmod 750 "a dir/file"',
    );
    const snapshot = await take(sandbox, { name: uniqueName(), labels: { why: 'test' } });
    await say(sandbox, 'echo two > "a dir/file"; rm link; echo new > later');
    const copy = await h.sandbox({ snapshot: snapshot.id });
    expect(
      await say(
        copy,
        'cat link; find "a dir/file" -perm 750; test -d "a dir/empty" && test ! -e later && echo same',
      ),
    ).toBe('one\na dir/file\nsame');
    expect([snapshot.id, snapshot.name]).toContain((await copy.info(call)).snapshot);
    expect(await say(sandbox, 'cat "a dir/file" later')).toBe('two\nnew');
    await say(copy, 'echo three > "a dir/file"');
    const second = await h.sandbox({ snapshot: snapshot.name });
    expect(await say(second, 'cat link')).toBe('one');
  });

  test('it is told of: by id, by name, by the beginning of its id, in the list', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    const name = uniqueName();
    const snapshot = await take(sandbox, { name, labels: { k: 'v' } });
    expect(snapshot).toMatchObject({ name, sandbox: sandbox.name, labels: { k: 'v' } });
    expect(new Date(snapshot.createdAt).toISOString()).toBe(snapshot.createdAt);
    for (const ref of [snapshot.id, name, snapshot.id.slice(0, -1)]) {
      expect((await store().get(ref, call)).id).toBe(snapshot.id);
    }
    expect((await listed()).find(({ id }) => id === snapshot.id)).toMatchObject({ name, labels: { k: 'v' } });
  });

  test('restore brings the files back, ends processes, and it runs again', async () => {
    const sandbox = await h.sandbox();
    await say(sandbox, 'mkdir dir; echo one > dir/file; echo kept > removed-later');
    const snapshot = await take(sandbox);
    await say(sandbox, 'echo two > dir/file; rm removed-later; echo new > added-later; mkdir added-dir');
    const { running } = await untilReady(sandbox, `echo ready; sleep ${uniqueSleep()}; :`);
    await sandbox.can.snapshots?.restore(snapshot.id, call);
    expect(await endOf(running)).not.toEqual({ code: 0 });
    expect((await sandbox.info(call)).state).toBe('running');
    const text = 'cat dir/file removed-later; test ! -e added-later && test ! -e added-dir && echo gone';
    expect(await say(sandbox, text)).toBe('one\nkept\ngone');
    await say(sandbox, 'echo three > dir/file');
    await sandbox.can.snapshots?.restore(snapshot.id, call);
    expect(await say(sandbox, 'cat dir/file')).toBe('one');
  });

  test('it outlives its sandbox', async () => {
    const sandbox = await h.sandbox();
    await say(sandbox, 'echo one > file');
    const snapshot = await take(sandbox);
    await h.backend().destroy(sandbox.id, { force: true }, call);
    expect(await say(await h.sandbox({ snapshot: snapshot.id }), 'cat file')).toBe('one');
  });

  h.when(h.has('power'))('a stopped sandbox can be taken and restored, and stays stopped', async () => {
    const sandbox = await h.sandbox();
    await say(sandbox, 'echo one > file');
    await sandbox.can.power?.stop({ graceMs: 0 }, call);
    const snapshot = await take(sandbox);
    await sandbox.can.power?.start(call);
    await say(sandbox, 'echo two > file');
    await sandbox.can.power?.stop({ graceMs: 0 }, call);
    await sandbox.can.snapshots?.restore(snapshot.id, call);
    expect((await sandbox.info(call)).state).toBe('stopped');
    await sandbox.can.power?.start(call);
    expect(await say(sandbox, 'cat file')).toBe('one');
  });

  test('pictures of pictures hold what each had', async () => {
    const sandbox = await h.sandbox();
    await say(sandbox, 'echo 1 > one');
    const first = await take(sandbox);
    await say(sandbox, 'echo 2 > two');
    const second = await take(sandbox);
    await say(sandbox, 'rm one');
    const third = await take(sandbox);
    const files = async (snapshot: SnapshotInfo) =>
      say(await h.sandbox({ snapshot: snapshot.id }), 'find one two 2>/dev/null; :');
    expect(await Promise.all([first, second, third].map(files))).toEqual(['one', 'one\ntwo', 'two']);
  });

  test('a removed one is gone, and one that is not there is not found', async () => {
    const sandbox = await h.sandbox();
    const snapshot = await take(sandbox);
    await store().remove(snapshot.id, call);
    expect((await listed()).map(({ id }) => id)).not.toContain(snapshot.id);
    expect((await refusal(store().get(snapshot.id, call))).code).toBe('not_found');
    expect((await refusal(store().remove(snapshot.id, call))).code).toBe('not_found');
    expect((await refusal(h.sandbox({ snapshot: 'no-such-snapshot' }))).code).toBe('not_found');
    const restore = sandbox.can.snapshots?.restore('no-such-snapshot', call);
    expect((await refusal(Promise.resolve(restore))).code).toBe('not_found');
    expect(await say(sandbox, 'echo still')).toBe('still');
  });

  test('a taken name is refused', async () => {
    const sandbox = await h.sandbox();
    const name = uniqueName();
    await take(sandbox, { name });
    expect((await refusal(take(sandbox, { name }))).code).toBe('conflict');
  });
}
