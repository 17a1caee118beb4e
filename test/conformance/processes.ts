/** Background processes: they outlive the client that started them, and so do their logs. */
import { expect, test } from 'vitest';
import type { LogOptions, Processes, ProcessInfo, Sandbox } from '../../src/lib/backend/contract.ts';
import { call, countInside, type Harness, refusal, sh, uniqueSleep } from './harness.ts';

export function processesConformance(h: Harness): void {
  test('a process runs on when the command that started it has ended, in its own session', async () => {
    const sandbox = await h.sandbox();
    const seconds = uniqueSleep();
    const started = await of(sandbox).start({ argv: ['sleep', seconds], name: 'web' }, call);
    expect(started).toMatchObject({ name: 'web', argv: ['sleep', seconds], state: 'running' });
    expect(await find(sandbox, started.id)).toMatchObject({
      state: 'running',
      name: 'web',
      argv: ['sleep', seconds],
    });
    // Nothing but the command carries its arguments: a pkill -f inside finds it alone.
    expect(await countInside(sandbox, seconds)).toBe(1);
    await of(sandbox).kill('web', 'TERM', call);
    await log(sandbox, 'web', { follow: true });
    expect(await find(sandbox, started.id)).toMatchObject({ state: 'exited', exit: { signal: 'TERM' } });
    expect(await countInside(sandbox, seconds)).toBe(0);
  });

  test('arguments, environment and workdir arrive as they are, and both streams are logged in order', async () => {
    const sandbox = await h.shared();
    const script = 'pwd; echo "$GREETING" >&2; for a; do printf "[%s]" "$a"; done; exit 3';
    const argv = ['sh', '-c', script, 'sh', '', 'a b', 'c\nd', '--json', '-x'] as const;
    const { id } = await of(sandbox).start(
      { argv: [...argv], env: { GREETING: 'a  b' }, workdir: '/usr' },
      call,
    );
    expect(await log(sandbox, id, { follow: true })).toBe('/usr\na  b\n[][a b][c\nd][--json][-x]');
    expect(await find(sandbox, id)).toMatchObject({
      argv,
      exit: { code: 3 },
      startedAt: expect.any(String),
      endedAt: expect.any(String),
    });
  });

  test.each([
    [['no-such-program'], undefined, 127],
    [['/etc/passwd'], undefined, 126],
    [['true'], '/no/such/dir', 126],
  ] as const)('%j in %s cannot run: exit %i in the record, why in the log', async (argv, workdir, code) => {
    const sandbox = await h.shared();
    const { id } = await of(sandbox).start({ argv, workdir }, call);
    expect(await log(sandbox, id, { follow: true })).not.toBe('');
    expect(await find(sandbox, id)).toMatchObject({ state: 'exited', exit: { code } });
  });

  h.when(h.otherUser !== undefined && !h.lacks?.includes('own root'))(
    'another user gives names too, also after the first one did',
    async () => {
      const { user = '' } = h.otherUser ?? {};
      const sandbox = await h.shared();
      await of(sandbox).start({ argv: ['true'], name: 'of-the-first' }, call);
      await of(sandbox).start({ argv: ['echo', 'said'], name: 'of-the-other', user, workdir: '/' }, call);
      expect(await log(sandbox, 'of-the-other', { follow: true })).toBe('said\n');
    },
  );

  test('a name is taken while its process runs, and free afterwards', async () => {
    const sandbox = await h.sandbox();
    await of(sandbox).start({ argv: ['sleep', '1000'], name: 'one' }, call);
    expect((await refusal(of(sandbox).start({ argv: ['true'], name: 'one' }, call))).code).toBe('conflict');
    await of(sandbox).kill('one', 'KILL', call);
    await log(sandbox, 'one', { follow: true });
    await of(sandbox).start({ argv: ['echo', 'second'], name: 'one' }, call);
    expect(await log(sandbox, 'one', { follow: true })).toBe('second\n');
  });

  test('signals reach the process and its group; an ending one also what left the group', async () => {
    const sandbox = await h.sandbox();
    const seconds = uniqueSleep();
    const script = `trap 'echo hup' HUP; setsid sleep ${seconds} & echo ready; while :; do sleep 0.05; done`;
    await of(sandbox).start({ argv: ['sh', '-c', script], name: 'web' }, call);
    const following = of(sandbox).logs('web', { follow: true }, call)[Symbol.asyncIterator]();
    await until(following, 'ready\n');
    await of(sandbox).kill('web', 'HUP', call);
    await until(following, 'hup\n');
    await of(sandbox).kill('web', 'KILL', call);
    while (!(await following.next()).done);
    expect(await countInside(sandbox, seconds)).toBe(0);
    expect((await refusal(of(sandbox).kill('web', 'TERM', call))).code).toBe('conflict');
    expect((await refusal(of(sandbox).kill('nope', 'TERM', call))).code).toBe('not_found');
    expect((await refusal(log(sandbox, 'nope'))).code).toBe('not_found');
  });

  test('logs: every byte, the last lines, and by time', async () => {
    const sandbox = await h.shared();
    const before = Date.now();
    const { id } = await of(sandbox).start({ argv: ['sh', '-c', "seq 200000; printf 'end\\377'"] }, call);
    await log(sandbox, id, { follow: true });
    const all = await bytes(sandbox, id);
    expect(all.length).toBe(1_288_895 + 4);
    expect(all.subarray(-4)).toEqual(Buffer.from('end\xff', 'latin1'));
    expect(await log(sandbox, id, { tail: 0 })).toBe('');
    expect((await bytes(sandbox, id, { tail: 3 })).toString('latin1')).toBe('199999\n200000\nend\xff');
    expect((await bytes(sandbox, id, { since: before - 60_000 })).length).toBe(all.length);
    expect((await bytes(sandbox, id, { until: before - 60_000 })).length).toBe(0);
  });

  test('following sees what is written at once, and ends when it is given up', async () => {
    const sandbox = await h.sandbox();
    await of(sandbox).start({ argv: ['sh', '-c', 'echo ready; exec sleep 1000'] }, call);
    const [info] = await every(sandbox);
    const giveUp = new AbortController();
    const following = of(sandbox)
      .logs(info?.id ?? '', { follow: true }, { signal: giveUp.signal })
      [Symbol.asyncIterator]();
    await until(following, 'ready\n');
    const next = following.next();
    giveUp.abort();
    expect((await refusal(next)).code).toBe('interrupted');
  });

  h.when(h.has('power'))('a stop ends processes; their records and logs stay', async () => {
    const sandbox = await h.sandbox();
    const { id } = await of(sandbox).start(
      { argv: ['sh', '-c', 'echo hello; exec sleep 1000'], name: 'web' },
      call,
    );
    await until(of(sandbox).logs('web', { follow: true }, call)[Symbol.asyncIterator](), 'hello\n', true);
    await sandbox.can.power?.stop({ graceMs: 2000 }, call);
    await sandbox.can.power?.start(call);
    const again = await h.backend().get(sandbox.id, call);
    expect(await find(again, id)).toMatchObject({ id, name: 'web', state: 'exited' });
    expect(await log(again, 'web')).toBe('hello\n');
  });

  h.when(h.manifest.createOptions.includes('command'))(
    'the command of a sandbox is its process main',
    async () => {
      const sandbox = await h.sandbox({ command: ['sh', '-c', 'echo up; exit 5'] });
      expect(await log(sandbox, 'main', { follow: true })).toBe('up\n');
      expect(await every(sandbox)).toMatchObject([{ name: 'main', exit: { code: 5 } }]);
      expect((await sh(sandbox, 'echo still here')).stdout.toString()).toBe('still here\n');
    },
  );
}

function of(sandbox: Sandbox): Processes {
  if (sandbox.can.processes === undefined)
    throw new Error('the manifest names processes, the sandbox has none');
  return sandbox.can.processes;
}

async function every(sandbox: Sandbox): Promise<ProcessInfo[]> {
  const all: ProcessInfo[] = [];
  for await (const info of of(sandbox).list(call)) all.push(info);
  return all;
}

async function find(sandbox: Sandbox, id: string): Promise<ProcessInfo | undefined> {
  return (await every(sandbox)).find((info) => info.id === id);
}

async function bytes(sandbox: Sandbox, ref: string, options: Partial<LogOptions> = {}): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const { data } of of(sandbox).logs(ref, { follow: false, ...options }, call)) parts.push(data);
  return Buffer.concat(parts);
}

async function log(sandbox: Sandbox, ref: string, options: Partial<LogOptions> = {}): Promise<string> {
  return (await bytes(sandbox, ref, options)).toString();
}

async function until(
  chunks: AsyncIterator<{ readonly data: Uint8Array }>,
  wanted: string,
  close = false,
): Promise<void> {
  let text = '';
  while (!text.includes(wanted)) {
    const next = await chunks.next();
    if (next.done) throw new Error(`the log ended after ${JSON.stringify(text)}`);
    text += Buffer.from(next.value.data).toString();
  }
  if (close) await chunks.return?.(undefined);
}
