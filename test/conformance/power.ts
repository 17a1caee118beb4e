/** What changes a sandbox while it lives. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  call,
  countOnThisMachine,
  endOf,
  type Harness,
  refusal,
  run,
  say,
  uniqueSleep,
  untilReady,
} from './harness.ts';
import { uniqueName } from './lifecycle.ts';

export function powerConformance(h: Harness): void {
  h.when(h.has('power'))('stop ends processes and keeps files; start brings it back', async () => {
    const sandbox = await h.sandbox({ env: { KEPT: 'yes' }, labels: { kept: 'yes' } });
    const { power } = sandbox.can;
    const seconds = uniqueSleep();
    await say(sandbox, 'echo kept > file');
    const { running } = await untilReady(
      sandbox,
      `echo ready; setsid sleep ${seconds} & sleep ${seconds}; :`,
    );
    await power?.stop({ graceMs: 200 }, call);
    expect(await endOf(running)).not.toEqual({ code: 0 });
    if (h.onThisMachine) expect(await countOnThisMachine(seconds)).toBe(0);
    expect((await sandbox.info(call)).state).toBe('stopped');
    expect((await refusal(run(sandbox, ['true']))).code).toBe('conflict');
    await power?.stop({ graceMs: 200 }, call);
    await power?.start(call);
    await power?.start(call);
    expect(await sandbox.info(call)).toMatchObject({ state: 'running', labels: { kept: 'yes' } });
    expect(await say(sandbox, 'cat file; echo $KEPT')).toBe('kept\nyes');
  });

  h.when(h.has('power'))('a process that ignores TERM is killed by stop', async () => {
    const sandbox = await h.sandbox();
    const { running } = await untilReady(sandbox, "trap '' TERM; echo ready; while :; do sleep 0.05; done");
    await sandbox.can.power?.stop({ graceMs: 200 }, call);
    expect(await endOf(running)).not.toEqual({ code: 0 });
  });

  h.when(h.has('power'))('a stopped one is listed only with all, and is removed without force', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    await sandbox.can.power?.stop({ graceMs: 200 }, call);
    const names = async (all: boolean) => {
      const found: string[] = [];
      for await (const { name } of h.backend().list({ all }, call)) found.push(name);
      return found;
    };
    expect(await names(false)).not.toContain(sandbox.name);
    expect(await names(true)).toContain(sandbox.name);
    await h.backend().destroy(sandbox.id, { force: false }, call);
    expect(await names(true)).not.toContain(sandbox.name);
  });

  const freezes = h.has('suspend') && h.lacks?.includes('frozen processes') !== true;
  h.when(freezes)('pause freezes processes and resume lets them go on', async () => {
    const sandbox = await h.sandbox();
    const { suspend } = sandbox.can;
    const { running, output } = await untilReady(
      sandbox,
      'echo ready; while :; do echo tick; sleep 0.01; done',
    );
    await output.until('tick\n');
    await suspend?.pause(call);
    await suspend?.pause(call);
    expect((await sandbox.info(call)).state).toBe('paused');
    // What was on its way arrives first; then there must be silence.
    await delay(200);
    const before = output.text().length;
    await delay(300);
    expect(output.text().length).toBe(before);
    await suspend?.resume(call);
    await suspend?.resume(call);
    await output.until((text) => text.length > before);
    expect((await sandbox.info(call)).state).toBe('running');
    expect(await say(sandbox, 'echo works')).toBe('works');
    await running.terminate(0);
    await running.wait();
  });

  h.when(h.has('suspend') && h.has('power'))('a stopped one cannot be paused', async () => {
    const sandbox = await h.sandbox();
    await sandbox.can.power?.stop({ graceMs: 0 }, call);
    expect((await refusal(Promise.resolve(sandbox.can.suspend?.pause(call)))).code).toBe('conflict');
  });

  h.when(h.has('suspend'))('a paused one can be removed', async () => {
    const sandbox = await h.sandbox();
    const { running } = await untilReady(sandbox, 'echo ready; exec sleep 1000');
    await sandbox.can.suspend?.pause(call);
    await h.backend().destroy(sandbox.id, { force: true }, call);
    expect(await endOf(running)).not.toEqual({ code: 0 });
    expect((await refusal(h.backend().get(sandbox.id, call))).code).toBe('not_found');
  });

  h.when(h.has('rename'))('rename gives another name, and the old one is free', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    const old = sandbox.name;
    const next = uniqueName();
    await say(sandbox, 'echo mine > file');
    await sandbox.can.rename?.(next, call);
    const found = await h.backend().get(next, call);
    expect([found.id, found.name, (await found.info(call)).name]).toEqual([sandbox.id, next, next]);
    expect(await say(found, 'cat file')).toBe('mine');
    expect((await refusal(h.backend().get(old, call))).code).toBe('not_found');
    const other = await h.sandbox({ name: old });
    expect(other.id).not.toBe(sandbox.id);
    expect((await refusal(Promise.resolve(other.can.rename?.(next, call)))).code).toBe('conflict');
    expect((await h.backend().get(old, call)).id).toBe(other.id);
  });

  h.when(h.has('fork'))('a fork starts from the present files and then goes its own way', async () => {
    const sandbox = await h.sandbox({ env: { KEPT: 'yes' } });
    await say(sandbox, 'mkdir -p deep; echo one > deep/file; ln -s deep/file link; chmod 640 deep/file');
    const name = uniqueName();
    const fork = await sandbox.can.fork?.({ name }, call);
    if (fork === undefined) throw new Error('no fork');
    try {
      expect(fork.name).toBe(name);
      expect(fork.id).not.toBe(sandbox.id);
      expect((await fork.info(call)).state).toBe('running');
      expect(await say(fork, 'cat link; find deep/file -perm 640; echo $KEPT')).toBe('one\ndeep/file\nyes');
      await say(fork, 'echo two > deep/file');
      await say(sandbox, 'echo more > after');
      expect(await say(sandbox, 'cat deep/file')).toBe('one');
      expect(await say(fork, 'test -e after || echo absent')).toBe('absent');
      expect((await refusal(Promise.resolve(sandbox.can.fork?.({ name }, call)))).code).toBe('conflict');
    } finally {
      await h.backend().destroy(fork.id, { force: true }, call);
    }
    expect(await say(sandbox, 'cat deep/file')).toBe('one');
  });

  const unsets = h.lacks?.includes('unset environment') !== true;
  h.when(h.has('env') && !unsets)(
    'what is set can be changed, and what cannot be taken away is refused',
    async () => {
      const sandbox = await h.sandbox({ env: { A: '1', B: '2' } });
      const { env } = sandbox.can;
      const attempt = Promise.resolve(env?.update({ A: 'changed', B: null }, call));
      expect((await refusal(attempt)).code).toBe('unsupported');
      await env?.update({ A: 'a\nb', GONE: null }, call);
      expect(await env?.get(call)).toEqual({ A: 'a\nb', B: '2' });
      expect(await say(sandbox, 'printf %s "$A-$B"')).toBe('a\nb-2');
    },
  );

  h.when(h.has('env') && unsets)('the environment can be changed for later commands', async () => {
    const sandbox = await h.sandbox({ env: { A: '1', B: '2' } });
    const { env } = sandbox.can;
    await env?.update({ A: 'changed', B: null, C: 'a\nb', GONE: null }, call);
    expect(await env?.get(call)).toEqual({ A: 'changed', C: 'a\nb' });
    expect(await say(sandbox, 'printf %s "$A-"; printenv B || printf unset-; printf %s "$C"')).toBe(
      'changed-unset-a\nb',
    );
    expect(await (await h.backend().get(sandbox.id, call)).can.env?.get(call)).toEqual({
      A: 'changed',
      C: 'a\nb',
    });
  });

  h.when(h.has('lifetime'))('the time of expiry can be set and taken away', async () => {
    const sandbox = await h.sandbox();
    const { lifetime } = sandbox.can;
    const until = await lifetime?.extend(3_600_000, call);
    expect(Math.abs(Date.parse(until ?? '') - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect((await sandbox.info(call)).expiresAt).toBe(until);
    expect(await lifetime?.extend(undefined, call)).toBeUndefined();
    expect((await sandbox.info(call)).expiresAt).toBeUndefined();
  });

  test('what cannot be done is not there', async () => {
    const { can } = await h.shared();
    const absent = (['power', 'suspend', 'rename', 'fork', 'env', 'lifetime'] as const).filter(
      (each) => !h.has(each),
    );
    for (const each of absent) expect(can[each]).toBeUndefined();
  });
}
