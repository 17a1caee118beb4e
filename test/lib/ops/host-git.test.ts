import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { packRepo } from '../../../src/lib/ops/host-git.ts';

test('a repository that was packed before the sandbox began to read arrives whole', async () => {
  const path = await mkdtemp(join(tmpdir(), 'sbx-host-git-'));
  try {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], { cwd: path });
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    const located = { path, hasHead: true } as Parameters<typeof packRepo>[0];
    const host = { env: process.env, signal: new AbortController().signal } as unknown as Parameters<
      typeof packRepo
    >[1];
    const pack = packRepo(located, host);
    await pack.done();
    expect(await text(pack.stdout)).toMatch(/^# v\d git bundle\n/);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});
