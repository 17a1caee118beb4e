import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SbxError } from '../../../../src/lib/errors.ts';
import { type Family, hasFamily } from '../../../support/guest-shell.ts';
import { asRoot, requireOrSkip } from '../../../support/require.ts';
import { call, SIZE, screenOf, sessionBox, type } from '../../../support/session-box.ts';
import { mounting, tinyDisk } from '../../../support/tiny-disk.ts';

const families = (['gnu', 'busybox'] as const).filter(hasFamily);
const sets: readonly (readonly string[])[] = [
  ['dtach', 'script', 'python3', 'perl'],
  ['dtach', 'script', 'perl'],
  ['dtach', 'python3'],
  ['dtach', 'script'],
  ['dtach'],
];
const roots = families.flatMap((family) => sets.map((tools) => [family, tools] as const));
const SHELL = ['sh', '-i'] as const;

/** Answers each line with half a MiB that no other answer holds, and the line. */
const PRINTER =
  'stty -echo; while read -r line; do i=0; while [ $i -lt 8 ]; do i=$((i + 1)); head -c 65536 /dev/zero | tr "\\\\0" $i; done; printf "<%s>" "$line"; done';

async function refusal(attempt: Promise<unknown>): Promise<SbxError> {
  const error: unknown = await attempt.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SbxError);
  return error as SbxError;
}

describe.each(roots)('sessions with the tools of %s and %s', (family: Family, tools) => {
  const canRecord = tools.includes('script') || tools.includes('python3');
  const canRelay = tools.includes('perl') || tools.includes('python3');

  it('are made, attached to, resized, left and end with their exit code', async () => {
    const { sessions, folder } = sessionBox({ family, tools });
    const made = await sessions.create({ name: 'main', argv: SHELL, size: { cols: 100, rows: 30 } }, call);
    expect(made).toMatchObject({
      name: 'main',
      state: 'running',
      attached: false,
      workdir: folder,
      size: { cols: 100, rows: 30 },
      recording: canRecord ? 'whole' : 'none',
    });
    const channel = await sessions.attach('main', { size: SIZE }, call);
    const screen = screenOf(channel);
    await type(channel, 'stty size; echo $((40+2))\n');
    await screen.until('\n42');
    expect(screen.text()).toContain('20 90\r\n42');
    if (canRelay) {
      channel.resize({ cols: 77, rows: 22 });
      await type(channel, 'stty size; echo $((40+3))\n');
      await screen.until('\n43');
      expect(screen.text()).toContain('22 77\r\n43');
    }
    expect(await sessions.list(call)).toMatchObject([{ name: 'main', attached: true }]);
    channel.close();
    expect(await channel.closed).toEqual({ reason: 'closed' });
    const again = await sessions.attach('main', { size: SIZE }, call);
    const second = screenOf(again);
    await type(again, 'exit 7\n');
    expect(await again.closed).toEqual({ reason: 'ended', exit: { code: 7 } });
    // Nothing of dtach's own is in the output.
    expect(second.text()).not.toMatch(/\x1b\[999H|EOF|sbx-[0-9a-f]{32}/);
    const [info] = await sessions.list(call);
    expect(info).toMatchObject({ name: 'main', state: 'ended', exit: { code: 7 } });
    const recorded = Buffer.from(await sessions.recording('main', 1 << 20, call)).toString();
    if (canRecord) {
      expect(recorded).toMatch(/stty size; echo[\s\S]*exit 7\r\n(exit\r\n)?$/);
      expect(recorded).not.toContain('Script started');
    } else expect(recorded).toBe('');
  });

  // Without one between them, dtach and a program that echoes a long paste wait for each other.
  if (canRecord)
    it('take a paste of a megabyte whole', async () => {
      const { sessions, folder } = sessionBox({ family, tools });
      await sessions.create({ name: 'main', argv: SHELL }, call);
      const channel = await sessions.attach('main', { size: SIZE }, call);
      const screen = screenOf(channel);
      await type(channel, 'stty -echo; echo re""ady; cat > file; wc -c file; echo do""ne\n');
      // Not sooner: stty waits until what the terminal echoes has been read, and nobody reads while keys are written.
      await screen.until('ready\r\n');
      const line = Buffer.from('0123456789abcdef0123456789abcdef012345678\n');
      await type(channel, Buffer.alloc(42 * 25_000, line));
      await type(channel, '\x04');
      await screen.until('done\r\n');
      expect(readFileSync(join(folder, 'file')).equals(Buffer.alloc(42 * 25_000, line))).toBe(true);
    });

  it('end with all that runs in them, also what ignores signals and left the terminal', async () => {
    const { sessions, folder } = sessionBox({ family, tools });
    const stubborn = 'trap "" HUP TERM INT; echo $$ >> pids; while :; do sleep 1000; done';
    await sessions.create(
      {
        name: 'main',
        argv: [
          'sh',
          '-c',
          `setsid sh -c '${stubborn}' & env -i "PATH=$PATH" sh -c '${stubborn}' & ${stubborn}`,
        ],
      },
      call,
    );
    const pids = () =>
      existsSync(join(folder, 'pids')) ? readFileSync(join(folder, 'pids'), 'utf8').trim().split('\n') : [];
    while (pids().length < 3) await new Promise((done) => setImmediate(done));
    const channel = await sessions.attach('main', { size: SIZE, readOnly: true }, call);
    screenOf(channel);
    await sessions.kill('main', call);
    expect(await channel.closed).toEqual({ reason: 'ended', exit: { signal: 'KILL' } });
    expect(pids().filter((pid) => existsSync(`/proc/${pid}/exe`))).toEqual([]);
    expect(await sessions.list(call)).toMatchObject([{ name: 'main', state: 'ended' }]);
    await sessions.kill('main', call);
    expect(await sessions.list(call)).toEqual([]);
    expect((await refusal(sessions.kill('main', call))).code).toBe('not_found');
  });

  it('are ended, with an unknown exit, when dtach is killed', async () => {
    const box = sessionBox({ family, tools });
    await box.sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call);
    const channel = await box.sessions.attach('main', { size: SIZE }, call);
    screenOf(channel);
    process.kill(Number(box.read('main', 'master').split(' ')[0]), 'SIGKILL');
    expect(await channel.closed).toEqual({ reason: 'ended' });
    const [info] = await box.sessions.list(call);
    expect(info).toMatchObject({ name: 'main', state: 'ended' });
    expect(info?.exit).toBeUndefined();
    expect((await refusal(box.sessions.attach('main', { size: SIZE }, call))).code).toBe('conflict');
    await box.sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call);
    expect(await box.sessions.list(call)).toMatchObject([{ name: 'main', state: 'running' }]);
  });

  it('are taken over', async () => {
    const { sessions } = sessionBox({ family, tools });
    await sessions.create({ name: 'main', argv: SHELL }, call);
    const first = await sessions.attach('main', { size: SIZE }, call);
    screenOf(first);
    const second = await sessions.attach('main', { size: SIZE, takeOver: true }, call);
    const screen = screenOf(second);
    expect(await first.closed).toEqual({ reason: 'taken' });
    await type(second, 'echo still $((1+1))\n');
    await screen.until('still 2');
  });

  it('are renamed while somebody is attached', async () => {
    const { sessions } = sessionBox({ family, tools });
    await sessions.create({ name: 'one', argv: SHELL }, call);
    const channel = await sessions.attach('one', { size: SIZE }, call);
    const screen = screenOf(channel);
    await sessions.rename('one', 'two', call);
    await type(channel, 'echo is $((40+2))\n');
    await screen.until('is 42');
    expect(await sessions.list(call)).toMatchObject([{ name: 'two', state: 'running', attached: true }]);
    expect((await refusal(sessions.rename('one', 'three', call))).code).toBe('not_found');
    await sessions.create({ name: 'three', argv: SHELL }, call);
    expect((await refusal(sessions.rename('two', 'three', call))).code).toBe('conflict');
    await type(channel, 'exit 3\n');
    expect(await channel.closed).toEqual({ reason: 'ended', exit: { code: 3 } });
    expect(await sessions.list(call)).toMatchObject([{ name: 'two', exit: { code: 3 } }, { name: 'three' }]);
  });
});

describe.each(families)('sessions with the tools of %s', (family) => {
  const tools = ['dtach', 'script', 'perl'];

  it('need dtach, and say how to get it', async () => {
    const { sessions } = sessionBox({ family, tools: ['script', 'perl'] });
    const error = await refusal(sessions.create({ name: 'main' }, call));
    expect(error).toMatchObject({
      code: 'unsupported',
      hint: expect.stringContaining('sbx sessions install'),
    });
    expect(await sessions.list(call)).toEqual([]);
  });

  it('of one name that start at once: one wins', async () => {
    const { sessions } = sessionBox({ family, tools });
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call)),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ code: 'conflict' });
    expect(await sessions.list(call)).toMatchObject([{ name: 'main', state: 'running' }]);
  });

  it('that were half made are not listed and make room', async () => {
    const box = sessionBox({ family, tools });
    mkdirSync(join(box.guest, 'sessions', 'main'), { recursive: true });
    writeFileSync(box.file('main', 'supervise'), 'half');
    expect(await box.sessions.list(call)).toEqual([]);
    await box.sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call);
    expect(await box.sessions.list(call)).toMatchObject([{ name: 'main', state: 'running' }]);
  });

  it('that ended: the newest sixteen are kept', async () => {
    const box = sessionBox({ family, tools });
    for (let number = 0; number < 20; number++) {
      const folder = join(box.guest, 'sessions', `old${number}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'master'), `1 0 ${1000 + number} 0\n`);
      writeFileSync(join(folder, 'exit'), `0 ${2000 + number}\n`);
    }
    await box.sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call);
    const names = readdirSync(join(box.guest, 'sessions')).filter((name) => name.startsWith('old'));
    expect(names).toHaveLength(16);
  });

  it('give the shell the environment of the sandbox, and nothing of ours but their name', async () => {
    const box = sessionBox({ family, tools });
    await box.sessions.create(
      {
        name: 'main',
        argv: ['env'],
        env: { LC_ALL: 'C.UTF-8', SHELL: '/bin/other', A: 'a  b' },
        term: 'vt100',
      },
      call,
    );
    const channel = await box.sessions.attach('main', { size: SIZE }, call).catch(() => undefined);
    await channel?.closed;
    const env = Buffer.from(await box.sessions.recording('main', 1 << 16, call)).toString();
    for (const line of [
      'TERM=vt100',
      'LC_ALL=C.UTF-8',
      'SHELL=/bin/other',
      'A=a  b',
      'SBX_SESSION=main',
      'LANG=C.UTF-8',
    ])
      expect(env).toContain(`${line}\r\n`);
    const ours = env.match(/^SBX_\w+/gm) ?? [];
    expect([...ours].sort()).toEqual(['SBX_GUEST_DIR', 'SBX_SESSION', 'SBX_SESSION_ID']);
  });

  it('tell where their shell is', async () => {
    const box = sessionBox({ family, tools });
    await box.sessions.create({ name: 'main', argv: SHELL, env: { GREETING: 'hi\nthere' } }, call);
    const channel = await box.sessions.attach('main', { size: SIZE }, call);
    const screen = screenOf(channel);
    await type(channel, 'mkdir "a b"; cd "a b"; echo $((40+2))\n');
    await screen.until('\n42');
    const { workdir, env } = await box.sessions.surroundings('main', call);
    expect(workdir).toBe(join(box.folder, 'a b'));
    expect(env).toMatchObject({ GREETING: 'hi\nthere', SBX_SESSION: 'main' });
  });

  it('are recorded within bounds, at once and without a gap, when the recorder dies too', async () => {
    const box = sessionBox({ family, tools });
    await box.sessions.create({ name: 'main', argv: ['sh', '-c', PRINTER] }, call);
    const channel = await box.sessions.attach('main', { size: SIZE }, call);
    const screen = screenOf(channel);
    let most = 0;
    for (let round = 0; round < 12; round++) {
      await type(channel, `${round}\n`);
      await screen.until(`<${round}>`);
      most = Math.max(most, statSync(box.file('main', 'recording')).size);
    }
    expect(most).toBeLessThanOrEqual(4 << 20);
    while (!box.read('main', 'recording').endsWith('<11>')) await new Promise((done) => setImmediate(done));
    const kept = box.read('main', 'recording');
    expect(kept.length).toBeGreaterThan(1 << 19);
    expect(screen.text().endsWith(kept)).toBe(true);
    expect(await box.sessions.list(call)).toMatchObject([{ recording: 'whole' }]);
    for (const pid of recorders(box.read('main', 'master'))) process.kill(pid, 'SIGKILL');
    await type(channel, 'after\n');
    await screen.until('<after>');
    await type(channel, 'again\n');
    while (!box.read('main', 'recording').endsWith('<again>'))
      await new Promise((done) => setImmediate(done));
    expect(await box.sessions.list(call)).toMatchObject([{ state: 'running', recording: 'partial' }]);
  });

  mounting('go on when the disk is full, and say that the recording has gaps', async () => {
    let disk: Disposable | undefined;
    const box = sessionBox({
      family,
      tools,
      prepare(guest) {
        disk = tinyDisk(join(guest, 'sessions'));
      },
    });
    using _disk = disk;
    await box.sessions.create({ name: 'main', argv: ['sh', '-c', PRINTER] }, call);
    const channel = await box.sessions.attach('main', { size: SIZE }, call);
    const screen = screenOf(channel);
    for (let round = 0; round < 2; round++) {
      await type(channel, `${round}\n`);
      await screen.until(`<${round}>`);
    }
    expect(await box.sessions.list(call)).toMatchObject([{ state: 'running', recording: 'partial' }]);
    await box.sessions.kill('main', call);
  });
});

requireOrSkip(families.includes('busybox'), 'busybox')('both families of tools are tested', () => {
  expect(families).toHaveLength(2);
});

/** The processes that record: those below the supervisor that are not \`script\` or below it. */
function recorders(master: string): number[] {
  const children = (pid: number | string): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  const [supervisor = 0] = children(master.split(' ', 1)[0] ?? '');
  const all: number[] = [];
  const add = (pid: number) => {
    all.push(pid);
    children(pid).forEach(add);
  };
  for (const pid of children(supervisor))
    if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('script')) children(pid).forEach(add);
  return all;
}

/** Makes terminals in a system of its own until one has the number that is given; prints who is on that one. */
const DOUBLE = `import os, pty, signal, sys
wanted = int(sys.argv[1])
while True:
    pid, fd = pty.fork()
    if pid == 0:
        print("ready", flush=True)
        signal.pause()
    os.read(fd, 1)
    number = int(open("/proc/%d/stat" % pid).read().rsplit(") ", 1)[1].split()[4])
    if number == wanted: break
print(pid, flush=True)
sys.stdin.read()
`;

asRoot()('what runs in another sandbox on a terminal of the same number stays alive', async () => {
  const { sessions, read } = sessionBox();
  await sessions.create({ name: 'main', argv: ['sleep', '1000'] }, call);
  const tty = readFileSync(`/proc/${read('main', 'shell').split(' ')[0]}/stat`, 'utf8')
    .split(') ')[1]
    ?.split(' ')[4];
  const devices =
    'mount -t devpts -o newinstance,ptmxmode=666 devpts /dev/pts && mount --bind /dev/pts/ptmx /dev/ptmx';
  const other = spawn('unshare', [
    '--mount',
    'sh',
    '-c',
    `${devices} && exec python3 -c "$0" ${tty}`,
    DOUBLE,
  ]);
  onTestFinished(() => void other.kill());
  const pid = Number(String((await once(other.stdout, 'data'))[0]));
  expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[4]).toBe(tty);
  await sessions.kill('main', call);
  expect(existsSync(`/proc/${pid}/exe`)).toBe(true);
});
