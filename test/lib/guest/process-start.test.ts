import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import start from '../../../src/lib/guest/process-start.sh';
import supervise from '../../../src/lib/guest/process-supervise.sh';

const SHELLS = [
  ['dash', []],
  ['busybox', ['sh']],
] as const;

describe.each(SHELLS)('process-start.sh in %s', (shell, words) => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sbx-start-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const run = (id: string, argv: readonly string[], guest = folder) =>
    spawnSync(shell, [...words, '-c', start, 'sbx-start', supervise, id, '', '', ...argv], {
      env: { ...process.env, SBX_GUEST_DIR: guest },
      encoding: 'utf8',
    });

  it('keeps records in /tmp, for this user alone, where its folder cannot be written', () => {
    const id = randomBytes(4).toString('hex');
    const record = join('/tmp', `.sbx-${process.getuid?.()}`, 'processes', id);
    try {
      expect(run(id, ['no-such-program'], '/proc/nowhere')).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(/^exited \d+ \d+ 127 \d+\n$/),
      });
      expect(readFileSync(join(record, 'log'), 'utf8')).toBe('sbx: no-such-program: not found\n');
    } finally {
      rmSync(record, { recursive: true, force: true });
    }
  });

  it('lets every user of the sandbox keep processes, and takes no id twice', () => {
    expect(run('aaaaaaaa', ['no-such-program']).status).toBe(0);
    expect(statSync(join(folder, 'processes')).mode & 0o7777).toBe(0o1777);
    expect(run('aaaaaaaa', ['no-such-program']).status).toBe(11);
  });

  it('keeps the newest of many ended records, and every one that has not ended', () => {
    expect(run('ffffffff', ['no-such-program']).status).toBe(0);
    const make = `i=0; while [ $i -lt 340 ]; do i=$((i+1)); d=$1/$(printf %08x $i); mkdir "$d"; [ $i = 7 ] || echo "0 1" >"$d/exit"; touch -d "@$i" "$d"; done`;
    execFileSync('sh', ['-c', make, 'sh', join(folder, 'processes')]);
    expect(run('eeeeeeee', ['no-such-program']).status).toBe(0);
    const left = readdirSync(join(folder, 'processes')).filter((name) => !name.startsWith('.'));
    expect(left).toHaveLength(256 + 1 + 1);
    expect(left).toContain('00000007');
    expect(left).toContain('ffffffff');
    expect(left).not.toContain('00000008');
  });

  it('gives the command its own PATH, even one without any tool', () => {
    const id = randomBytes(4).toString('hex');
    const { status, stdout } = spawnSync(
      `/usr/bin/${shell}`,
      [...words, '-c', start, 'sbx-start', supervise, id, '', '', '/usr/bin/env'],
      { env: { SBX_GUEST_DIR: folder, PATH: '/nowhere' }, encoding: 'utf8' },
    );
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^(running|exited)/)]);
    execFileSync('sh', ['-c', 'until [ -e "$1/exit" ]; do :; done', 'sh', join(folder, 'processes', id)]);
    const lines = readFileSync(join(folder, 'processes', id, 'log'), 'utf8')
      .trimEnd()
      .split('\n')
      .sort();
    // SHLVL is busybox's own.
    expect(lines.filter((line) => !line.startsWith('SHLVL='))).toEqual([
      'PATH=/nowhere',
      expect.stringMatching(/^PWD=/),
      `SBX_GUEST_DIR=${folder}`,
      `SBX_PROCESS_ID=${id}`,
    ]);
  });

  it('goes to /tmp too when something is in the way of its folder', () => {
    writeFileSync(join(folder, 'processes'), 'in the way');
    const id = randomBytes(4).toString('hex');
    const record = join('/tmp', `.sbx-${process.getuid?.()}`, 'processes', id);
    expect(run(id, ['no-such-program']).status).toBe(0);
    expect(existsSync(record)).toBe(true);
    rmSync(record, { recursive: true });
  });
});
