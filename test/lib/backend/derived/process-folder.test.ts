import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderProcesses } from '../../../../src/lib/backend/derived/process-folder.ts';
import { call, listed, processBox, textOf, untilEnd } from './process-box.ts';

describe('processes as their folder shows them', () => {
  it('lists the same as the sandbox does, while they run, when they ended, and when the sandbox stopped', async () => {
    await using box = await processBox('dash');
    const first = await box.processes.start({ argv: ['sh', '-c', 'exit 7', 'a b', ''], name: 'first' }, call);
    await untilEnd(box.processes, first.id);
    await box.processes.start({ argv: ['sleep', '300'], name: 'web' }, call);
    const running = folderProcesses(box.folder, { running: true });
    expect(await listed(running)).toEqual(await listed(box.processes));
    expect(await listed(running)).toMatchObject([
      { name: 'first', exit: { code: 7 } },
      { name: 'web', state: 'running' },
    ]);
    const stopped = folderProcesses(box.folder, { running: false });
    const [, web] = await listed(stopped);
    expect(web).toMatchObject({ name: 'web', state: 'exited' });
    expect(web?.exit).toBeUndefined();
    expect(await textOf(stopped.logs('web', { follow: true }, call))).toBe('');
  });

  it('sees that a process ended whose supervisor was killed too', async () => {
    await using box = await processBox('dash');
    const { pid } = await box.processes.start(
      { argv: ['sh', '-c', 'echo hi; exec sleep 300'], name: 'web' },
      call,
    );
    const folder = folderProcesses(box.folder, { running: true });
    const following = textOf(folder.logs('web', { follow: true }, call));
    const parent = execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    process.kill(Number(parent), 'SIGKILL');
    process.kill(pid ?? 0, 'SIGKILL');
    expect(await following).toBe('hi\n');
    expect(await listed(folder)).toMatchObject([{ state: 'exited' }]);
  });
});

describe('a hostile process folder', () => {
  let folder: string;
  let secret: string;
  beforeEach(() => {
    const root = mkdtempSync(join(tmpdir(), 'sbx-folder-'));
    folder = join(root, 'guest');
    secret = join(root, 'secret');
    mkdirSync(join(folder, 'processes'), { recursive: true });
    writeFileSync(secret, 'secret\n');
  });
  afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

  const reader = () => folderProcesses(folder, { running: true, sandbox: 'box' });
  const record = (id: string, files: Record<string, string | Buffer>) => {
    const path = join(folder, 'processes', id);
    mkdirSync(path);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
    return path;
  };

  it('turns malformed records into unknown facts', async () => {
    record('aaaaaaaa', {
      name: '../../x\n',
      started: 'NaN -1 99999999999999 -5',
      argv: Buffer.alloc(5_000_000, 'x'),
      exit: '999 x',
    });
    record('bbbbbbbb', {});
    record('not-an-id', { name: 'x' });
    writeFileSync(join(folder, 'processes', 'cccccccc'), 'no folder');
    const [first, second, ...others] = await listed(reader());
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id: 'aaaaaaaa', state: 'exited' });
    expect(Object.keys(first ?? {}).sort()).toEqual(['argv', 'id', 'state']);
    expect(first?.argv[0]?.length).toBe(32 * 1024);
    expect(second).toEqual({ id: 'bbbbbbbb', argv: [], state: 'running' });
  });

  it('follows no symlink, at any step', async () => {
    const path = record('aaaaaaaa', { started: '1 1 1000 1' });
    symlinkSync(secret, join(path, 'log'));
    symlinkSync(secret, join(path, 'argv'));
    symlinkSync(join(folder, '..'), join(folder, 'processes', 'bbbbbbbb'));
    expect(await textOf(reader().logs('aaaaaaaa', { follow: false }, call))).toBe('');
    expect(await listed(reader())).toMatchObject([{ id: 'aaaaaaaa', argv: [] }]);
    await expect(textOf(reader().logs('bbbbbbbb', { follow: false }, call))).rejects.toMatchObject({
      code: 'not_found',
    });
    rmSync(join(folder, 'processes'), { recursive: true });
    symlinkSync(join(folder, '..'), join(folder, 'processes'));
    expect(await listed(reader())).toEqual([]);
  });

  it('is held up by no FIFO and reads no directory', async () => {
    const path = record('aaaaaaaa', {});
    for (const name of ['log', 'exit', 'name', 'started']) execFileSync('mkfifo', [join(path, name)]);
    mkdirSync(join(path, 'alive'));
    mkdirSync(join(path, 'index'));
    expect(await listed(reader())).toEqual([{ id: 'aaaaaaaa', argv: [], state: 'running' }]);
    expect(await textOf(reader().logs('aaaaaaaa', { follow: true }, call))).toBe('');
  });

  it('is as good as empty when it is missing', async () => {
    expect(await listed(folderProcesses(join(folder, 'nope'), { running: true }))).toEqual([]);
  });
});
