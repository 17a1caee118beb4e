import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, listed, type ProcessBox, processBox, readUntil, SHELLS, untilEnd } from './process-box.ts';

describe.each(SHELLS)('processes derived from exec, %s', (shell) => {
  let box: ProcessBox;
  beforeEach(async () => {
    box = await processBox(shell);
  });
  afterEach(async () => {
    await box[Symbol.asyncDispose]();
  });

  it('starts a command in its own session, with nothing of ours in its environment and descriptors', async () => {
    const started = await box.processes.start({ argv: ['sleep', '100'], env: { GREETING: 'a b' } }, call);
    expect(started).toMatchObject({
      state: 'running',
      argv: ['sleep', '100'],
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
    const pid = started.pid ?? 0;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    expect([stat[2], stat[3]]).toEqual([String(pid), String(pid)]);
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    expect(environment).toContain('GREETING=a b');
    expect(environment).toContain(`SBX_PROCESS_ID=${started.id}`);
    expect(environment.filter((line) => line.startsWith('SBX_EXEC_ID') || line.startsWith('OLDPWD'))).toEqual(
      [],
    );
    const own = readdirSync(`/proc/${pid}/fd`).filter((fd) =>
      readlinkSync(`/proc/${pid}/fd/${fd}`).includes(box.folder),
    );
    expect(own.sort()).toEqual(['1', '2']);
    expect(readlinkSync(`/proc/${pid}/fd/0`)).toBe('/dev/null');
    // INT and QUIT, which a shell ignores in its background jobs.
    expect(readFileSync(`/proc/${pid}/status`, 'latin1')).toMatch(/^SigIgn:\t0*([0-9a-f]*[08])$/m);
  });

  it('runs the arguments as they are and keeps both streams in order', async () => {
    const script = 'for a; do printf "[%s]" "$a"; done; echo err >&2; echo out';
    const argv = ['sh', '-c', script, 'sh', '', 'a b', 'c\nd', '--json', "it's", '-x'] as const;
    const { id } = await box.processes.start({ argv: [...argv] }, call);
    expect(await untilEnd(box.processes, id)).toBe("[][a b][c\nd][--json][it's][-x]err\nout\n");
    expect(await listed(box.processes)).toMatchObject([{ id, argv, state: 'exited', exit: { code: 0 } }]);
  });

  it('records exit codes and signals', async () => {
    const first = await box.processes.start({ argv: ['sh', '-c', 'exit 3'], name: 'first' }, call);
    await untilEnd(box.processes, first.id);
    const second = await box.processes.start({ argv: ['sh', '-c', 'kill -9 $$'], name: 'second' }, call);
    expect(await untilEnd(box.processes, second.id)).toBe('');
    const byName = new Map((await listed(box.processes)).map((info) => [info.name, info]));
    expect(byName.get('first')).toMatchObject({
      state: 'exited',
      exit: { code: 3 },
      endedAt: expect.any(String),
    });
    expect(byName.get('second')).toMatchObject({ exit: { signal: 'KILL' } });
  });

  it.each([
    [['no-such-program', 'x'], undefined, 127, 'sbx: no-such-program: not found\n'],
    [['/etc/passwd'], undefined, 126, 'sbx: /etc/passwd: cannot be run: not an executable file\n'],
    [['/etc'], undefined, 126, 'sbx: /etc: cannot be run: not an executable file\n'],
    [['exit'], undefined, 127, 'sbx: exit: not found\n'],
    [[''], undefined, 127, 'sbx: : not found\n'],
    [['true'], '/no/such/dir', 126, 'sbx: cannot enter the directory /no/such/dir\n'],
  ] as const)('says in record and log why %j in %s cannot run', async (argv, workdir, code, message) => {
    const [file, ...rest] = argv;
    const started = await box.processes.start({ argv: [file, ...rest], workdir }, call);
    expect(started).toMatchObject({ state: 'exited', exit: { code } });
    expect(await untilEnd(box.processes, started.id)).toBe(message);
  });

  it('enters a working directory relative to the sandbox', async () => {
    const first = await box.processes.start({ argv: ['mkdir', '-p', 'down/-here'] }, call);
    await untilEnd(box.processes, first.id);
    const second = await box.processes.start({ argv: ['pwd'], workdir: 'down/-here' }, call);
    expect(await untilEnd(box.processes, second.id)).toMatch(/\/down\/-here\n$/);
  });

  it('refuses a second running process of one name, also at the same time, and takes it once the first ended', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 4 }, () => box.processes.start({ argv: ['sleep', '100'], name: 'web' }, call)),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(attempts.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'conflict' },
    });
    const following = untilEnd(box.processes, 'web');
    await box.processes.kill('web', 'TERM', call);
    await following;
    await box.processes.start({ argv: ['true'], name: 'web' }, call);
    await expect(box.processes.start({ argv: ['true'], name: '../x' }, call)).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('sends signals to the group, and those that end to what left the group', async () => {
    const script =
      'trap "echo hup" HUP; trap "echo int; exit 0" INT; setsid sleep 300 & echo ready $!; while :; do wait; done';
    const { id, pid } = await box.processes.start({ argv: ['dash', '-c', script], name: 'sig' }, call);
    const log = box.processes.logs(id, { follow: true }, call)[Symbol.asyncIterator]();
    const strayPid = Number(/ready (\d+)/.exec(await readUntil(log, '\n'))?.[1]);
    await box.processes.kill('sig', 'HUP', call);
    await readUntil(log, 'hup\n');
    process.kill(strayPid, 0);
    await box.processes.kill(id, 'KILL', call);
    expect((await log.next()).done).toBe(true);
    expect(isGone(strayPid)).toBe(true);
    expect(isGone(pid ?? 0)).toBe(true);
    await expect(box.processes.kill('sig', 'TERM', call)).rejects.toMatchObject({ code: 'conflict' });
    await expect(box.processes.kill('nope', 'TERM', call)).rejects.toMatchObject({ code: 'not_found' });
    await expect(box.processes.kill('00000000', 'TERM', call)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('shows a process whose supervisor was killed with it as ended, its exit unknown', async () => {
    const { id, pid } = await box.processes.start({ argv: ['sleep', '100'] }, call);
    const parent = Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[1]);
    process.kill(parent, 'SIGKILL');
    process.kill(pid ?? 0, 'SIGKILL');
    await untilEnd(box.processes, id);
    const [info] = await listed(box.processes);
    expect(info).toMatchObject({ id, state: 'exited' });
    expect(info?.exit).toBeUndefined();
  });
});

function isGone(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z');
  } catch {
    return true;
  }
}
