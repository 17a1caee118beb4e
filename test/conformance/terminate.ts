/** Ending a command ends all that it started, wherever it went. */
import { expect, test } from 'vitest';
import {
  call,
  countInside,
  countOnThisMachine,
  endOf,
  type Harness,
  refusal,
  run,
  uniqueSleep,
  untilReady,
} from './harness.ts';

const NOT_HEARD = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.05; done";

export function terminateConformance(h: Harness): void {
  test('a command that obeys TERM ends by itself, without waiting for the grace', async () => {
    const text = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done";
    const { running, output } = await untilReady(await h.shared(), text);
    await running.terminate(600_000);
    expect(await running.wait()).toEqual({ code: 5 });
    expect(output.text()).toBe('ready\nbye\n');
  });

  test('a command that ignores TERM is killed after the grace', async () => {
    const { running } = await untilReady(await h.shared(), NOT_HEARD);
    await running.terminate(200);
    expect(await running.wait()).toEqual({ signal: 'KILL' });
  });

  test('without a grace it is killed at once, also when it was asked before', async () => {
    const { running } = await untilReady(await h.shared(), NOT_HEARD);
    await running.terminate(600_000);
    await running.terminate(0);
    expect(await running.wait()).toEqual({ signal: 'KILL' });
  });

  test('a stopped command ends too', async () => {
    const { running } = await untilReady(await h.shared(), 'echo ready; exec sleep 1000');
    await running.signal('STOP');
    await running.terminate(10_000);
    expect(await running.wait()).toEqual({ signal: 'TERM' });
  });

  test.each([
    ['children', (s: string) => `sleep ${s} & echo ready; wait`],
    ['grandchildren', (s: string) => `sh -c 'sleep ${s} & sleep ${s}; :' & echo ready; wait`],
    ['those in a session of their own', (s: string) => `setsid sleep ${s} & echo ready; wait`],
    [
      'those whose parent has gone',
      (s: string) => `(setsid sh -c 'sleep ${s}; :' >/dev/null 2>&1 &) ; echo ready; sleep ${s}; :`,
    ],
    [
      'those that ignore TERM',
      (s: string) => `sh -c "trap '' TERM; echo ready; while :; do sleep 0.05; done" x${s} & wait`,
    ],
  ])('%s are gone', async (_who, text) => {
    const sandbox = await h.shared();
    const seconds = uniqueSleep();
    const { running } = await untilReady(sandbox, text(seconds));
    await expect.poll(() => countInside(sandbox, seconds), { timeout: 10_000 }).toBeGreaterThan(0);
    await running.terminate(200);
    await running.wait();
    await expect.poll(() => countInside(sandbox, seconds), { timeout: 10_000 }).toBe(0);
  });

  test('other commands are left alone', async () => {
    const sandbox = await h.shared();
    const other = await untilReady(sandbox, 'echo ready; cat; echo whole', { stdin: 'pipe' });
    const { running } = await untilReady(sandbox, 'echo ready; exec sleep 1000');
    await running.terminate(0);
    await running.wait();
    other.running.stdin?.end();
    expect(await other.running.wait()).toEqual({ code: 0 });
  });

  test('a command whose sandbox is removed ends', async () => {
    const sandbox = await h.sandbox();
    const seconds = uniqueSleep();
    const { running } = await untilReady(
      sandbox,
      `echo ready; setsid sleep ${seconds} & sleep ${seconds}; :`,
    );
    await h.backend().destroy(sandbox.id, { force: true }, call);
    expect(await endOf(running)).not.toEqual({ code: 0 });
    if (h.onThisMachine) {
      await expect.poll(() => countOnThisMachine(seconds), { timeout: 10_000 }).toBe(0);
    }
  });

  test('commands that start while their sandbox is removed end or are refused', async () => {
    const sandbox = await h.sandbox();
    const attempts = Array.from({ length: 10 }, () =>
      run(sandbox, ['sleep', '1000']).then(
        ({ exit }) => exit,
        (error: unknown) => error,
      ),
    );
    await h.backend().destroy(sandbox.id, { force: true }, call);
    for (const outcome of await Promise.all(attempts)) expect(outcome).not.toEqual({ code: 0 });
  });

  test('a command in a sandbox that is gone is refused', async () => {
    const sandbox = await h.sandbox();
    await h.backend().destroy(sandbox.id, { force: true }, call);
    expect((await refusal(run(sandbox, ['true']))).code).toBe('not_found');
  });

  test('a command that was given up before it started is not started', async () => {
    const sandbox = await h.shared();
    const spec = { argv: ['sh', '-c', 'echo x > was-started'], stdin: 'none' } as const;
    const given = { signal: AbortSignal.abort() };
    expect((await refusal(sandbox.exec({ ...spec, argv: [...spec.argv] }, given))).code).toBe('interrupted');
    expect((await run(sandbox, ['test', '-e', 'was-started'])).exit).toEqual({ code: 1 });
  });
}
