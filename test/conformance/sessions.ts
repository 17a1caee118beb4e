/** Sessions: terminals that outlive the client, many clients at one, and what is known of them afterwards. */
import { expect, test } from 'vitest';
import type { SessionChannel, SessionInfo, Sessions } from '../../src/lib/backend/contract.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { call, countInside, feed, type Harness, refusal, uniqueSleep, watch } from './harness.ts';

const SIZE = { cols: 90, rows: 20 };
const SHELL = ['sh', '-i'] as const;

export function sessionsConformance(h: Harness): void {
  /** Sessions of a new sandbox, with one that runs a plain shell. */
  const withShell = async (): Promise<Sessions> => {
    const sessions = of(await h.sandbox());
    await sessions.create({ name: 'main', argv: SHELL, size: { cols: 100, rows: 30 } }, call);
    return sessions;
  };

  if (h.lacks?.includes('dtach')) {
    test('without dtach a session is refused, and the hint says how to get it', async () => {
      const error = await refusal(of(await h.sandbox()).create({ name: 'main' }, call));
      expect(error).toMatchObject({ code: 'unsupported', hint: expect.stringContaining('dtach') });
      expect(await of(await h.shared()).list(call)).toEqual([]);
    });
    return;
  }

  test('a session runs on when its client has left, and knows what runs in it and where', async () => {
    const sandbox = await h.sandbox();
    const sessions = of(sandbox);
    const seconds = uniqueSleep();
    const made = await sessions.create(
      { name: 'main', argv: ['sh', '-c', `cd /usr && exec sleep ${seconds}`], size: { cols: 100, rows: 30 } },
      call,
    );
    expect(made).toMatchObject({ name: 'main', state: 'running' });
    const channel = await sessions.attach('main', { size: SIZE }, call);
    watch(channel.output);
    channel.close();
    expect(await channel.closed).toEqual({ reason: 'closed' });
    expect(await countInside(sandbox, seconds)).toBe(1);
    const again = of(await h.backend().get(sandbox.id, call));
    const workdir = h.lacks?.includes('working folders') ? undefined : '/usr';
    const info = await found(again, 'main', (each) => each.workdir === workdir);
    expect(info).toMatchObject({
      state: 'running',
      command: `sleep ${seconds}`,
      createdAt: expect.any(String),
    });
    if (workdir !== undefined) expect((await again.surroundings('main', call)).workdir).toBe(workdir);
  });

  test('keys, sizes and output pass; the exit code is known to the client and afterwards', async () => {
    const sessions = await withShell();
    const channel = await sessions.attach('main', { size: SIZE }, call);
    const output = watch(channel.output);
    channel.input.write('stty size; echo $((40+2))\n');
    await output.until('\n42');
    expect(output.text()).toContain('20 90\r\n42');
    if (!h.lacks?.includes('window changes')) {
      channel.resize({ cols: 70, rows: 10 });
      channel.input.write('stty size; echo $((40+3))\n');
      await output.until('\n43');
      expect(output.text()).toContain('10 70\r\n43');
    }
    channel.input.write('exit 7\n');
    expect(await channel.closed).toEqual({ reason: 'ended', exit: { code: 7 } });
    expect(await sessions.list(call)).toMatchObject([{ name: 'main', state: 'ended', exit: { code: 7 } }]);
    expect((await refusal(sessions.attach('main', { size: SIZE }, call))).code).toBe('conflict');
    expect((await refusal(sessions.surroundings('main', call))).code).toBe('conflict');
    expect(Buffer.from(await sessions.recording('main', 1 << 20, call)).toString()).toContain('exit 7\r\n');
    expect(await sessions.recording('main', 5, call)).toHaveLength(5);
  });

  test('a megabyte of keys arrives whole, byte for byte', async () => {
    const sandbox = await h.sandbox();
    const sessions = of(sandbox);
    const line = Buffer.from('0123456789abcdef0123456789abcdef012345678\n');
    const paste = Buffer.alloc(line.length * 25_000, line);
    await sessions.create(
      {
        name: 'main',
        argv: ['sh', '-c', `read -r go; stty -echo; echo ready; head -n 25000 | cksum; echo done; cat`],
      },
      call,
    );
    const channel = await sessions.attach('main', { size: SIZE }, call);
    const output = watch(channel.output);
    // Not sooner: stty waits until what the terminal echoes has been read, and nobody reads while keys are written.
    await feedKeys(channel, Buffer.from('go\r'));
    await output.until('ready');
    await feedKeys(channel, paste);
    await output.until('done');
    const cksum = await sandbox.exec({ argv: ['cksum'], stdin: 'pipe' }, call);
    const sum = watch(cksum.stdout);
    cksum.stderr?.resume();
    await feed(cksum.stdin, [paste]);
    await cksum.wait();
    expect(output.text()).toContain(sum.text().trim());
  });

  test('keys for a program that does not read hold up neither output nor leaving', async () => {
    const sessions = of(await h.sandbox());
    await sessions.create(
      { name: 'main', argv: ['sh', '-c', 'stty raw -echo; while :; do echo tick; sleep 0.1; done'] },
      call,
    );
    const channel = await sessions.attach('main', { size: SIZE }, call);
    const output = watch(channel.output);
    await output.until('tick');
    channel.input.write(Buffer.alloc(1 << 20, 'x'));
    const { length } = output.text();
    await output.until((text) => text.length > length + 20);
    channel.close();
    expect(await channel.closed).toEqual({ reason: 'closed' });
  });

  test('all clients see the same; who only reads types nothing; who takes over is alone', async () => {
    const sessions = await withShell();
    const first = await sessions.attach('main', { size: SIZE }, call);
    const reader = await sessions.attach('main', { size: { cols: 5, rows: 5 }, readOnly: true }, call);
    const outputs = [watch(first.output), watch(reader.output)];
    reader.input.write('echo not $((1+1))\n');
    reader.resize({ cols: 6, rows: 6 });
    first.input.write('stty size; echo yes $((1+1))\n');
    await Promise.all(outputs.map((output) => output.until('yes 2')));
    expect(outputs[0]?.text()).not.toContain('not 2');
    expect(outputs[0]?.text()).toContain('20 90');
    const last = await sessions.attach('main', { size: SIZE, takeOver: true }, call);
    const output = watch(last.output);
    expect(await Promise.all([first.closed, reader.closed])).toEqual([
      { reason: 'taken' },
      { reason: 'taken' },
    ]);
    last.input.write('echo alone $((1+1))\n');
    await output.until('alone 2');
    last.close();
  });

  test('names are checked, taken while their session runs, and can be changed', async () => {
    const sessions = await withShell();
    for (const name of ['', '.x', '-x', 'a/b', 'a b', '..', 'x'.repeat(65)])
      expect((await refusal(sessions.create({ name }, call))).code).toBe('usage');
    expect((await refusal(sessions.create({ name: 'main', argv: SHELL }, call))).code).toBe('conflict');
    const attempts = [1, 2, 3].map(() => sessions.create({ name: 'one', argv: SHELL }, call));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await refusal(sessions.rename('one', 'main', call))).code).toBe('conflict');
    await sessions.rename('one', 'two', call);
    expect((await refusal(sessions.rename('one', 'three', call))).code).toBe('not_found');
    expect((await sessions.list(call)).map(({ name }) => name)).toEqual(['main', 'two']);
  });

  test('ending one ends all that runs in it; then it is forgotten', async () => {
    const sandbox = await h.sandbox();
    const sessions = of(sandbox);
    const seconds = uniqueSleep();
    const stubborn = `trap "" HUP TERM; while :; do sleep ${seconds}; done`;
    await sessions.create(
      { name: 'main', argv: ['sh', '-c', `setsid sh -c '${stubborn}' & ${stubborn}`] },
      call,
    );
    const channel = await sessions.attach('main', { size: SIZE }, call);
    watch(channel.output);
    await sessions.kill('main', call);
    expect(await channel.closed).toMatchObject({ reason: 'ended' });
    expect(await countInside(sandbox, seconds)).toBe(0);
    expect(await sessions.list(call)).toMatchObject([{ name: 'main', state: 'ended' }]);
    await sessions.kill('main', call);
    expect(await sessions.list(call)).toEqual([]);
    for (const attempt of [
      () => sessions.kill('main', call),
      () => sessions.attach('main', { size: SIZE }, call),
      () => sessions.recording('main', 10, call),
      () => sessions.surroundings('main', call),
    ])
      expect((await refusal(attempt())).code).toBe('not_found');
  });

  // Without walls around it, another user's sessions would be kept in this machine's /tmp.
  h.when(h.otherUser !== undefined && h.has('terminal'))(
    'another user has sessions too, beside the first',
    async () => {
      const sessions = await withShell();
      await sessions.create({ name: 'other', argv: SHELL, user: h.otherUser?.user, workdir: '/' }, call);
      const channel = await sessions.attach('other', { size: SIZE }, call);
      const output = watch(channel.output);
      channel.input.write('echo is $(id -u)\n');
      await output.until(`is ${h.otherUser?.uid}`);
      channel.close();
      expect(await sessions.list(call)).toMatchObject([
        { name: 'main' },
        { name: 'other', state: 'running' },
      ]);
    },
  );

  h.when(h.has('suspend') && !h.lacks?.includes('staying paused'))(
    'a paused sandbox refuses to be attached to, and says how to go on',
    async () => {
      const sandbox = await h.sandbox();
      await of(sandbox).create({ name: 'main', argv: SHELL }, call);
      await sandbox.can.suspend?.pause(call);
      try {
        const error = await refusal(of(sandbox).attach('main', { size: SIZE }, call));
        expect(error).toMatchObject({ code: 'conflict', hint: expect.stringContaining('sbx resume') });
      } finally {
        await sandbox.can.suspend?.resume(call);
      }
    },
  );

  h.when(h.has('power'))('a stop ends sessions, and their clients are told', async () => {
    const sandbox = await h.sandbox();
    await of(sandbox).create({ name: 'main', argv: ['sleep', '1000'] }, call);
    const channel = await of(sandbox).attach('main', { size: SIZE }, call);
    watch(channel.output);
    await sandbox.can.power?.stop({ graceMs: 2000 }, call);
    expect((await channel.closed).reason).toMatch(/^(ended|lost)$/);
    await sandbox.can.power?.start(call);
    expect(await of(sandbox).list(call)).toMatchObject([{ name: 'main', state: 'ended' }]);
  });
}

function of(sandbox: { readonly can: { readonly sessions?: Sessions } }): Sessions {
  if (sandbox.can.sessions === undefined)
    throw new Error('the manifest names sessions, the sandbox has none');
  return sandbox.can.sessions;
}

/** The session once it is as wanted: a command that was started takes a moment to be in its place. */
async function found(
  sessions: Sessions,
  name: string,
  wanted: (info: SessionInfo) => boolean,
): Promise<SessionInfo> {
  for (;;) {
    const info = (await sessions.list(call)).find((each) => each.name === name);
    if (info === undefined) throw new SbxError('not_found', `there is no session ${name}`);
    if (wanted(info)) return info;
  }
}

function feedKeys(channel: SessionChannel, keys: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.input.write(keys, (error) => (error ? reject(error) : resolve())),
  );
}
