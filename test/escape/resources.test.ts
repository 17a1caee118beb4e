import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeCgroups, removeCgroups, systemCgroups } from '../../src/lib/backends/local/cgroup.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { call, countOnThisMachine, say, sh, uniqueSleep } from '../conformance/harness.ts';
import { asRoot, requireOrSkip } from '../support/require.ts';
import { openCage, succeeds } from './cage.ts';

const cage = openCage();

function enforceable(limits: { pids?: number; memory?: number }): boolean {
  try {
    removeCgroups(makeCgroups(systemCgroups(), `escape-${process.pid}`, limits));
    return true;
  } catch (error) {
    if (error instanceof SbxError) return false;
    throw error;
  }
}

asRoot(enforceable({ pids: 60 }), 'a cgroup that limits processes')(
  'a fork bomb stays below the limit, and can be removed',
  async () => {
    const sandbox = await cage.make({ limits: { pids: 60 } });
    const word = uniqueSleep();
    const bomb = await sandbox.exec(
      {
        argv: [
          'perl',
          '-e',
          `$| = 1; print "go\\n"; for (1 .. 500) { if (!fork) { exec "sleep", "${word}" } } wait`,
        ],
        stdin: 'none',
      },
      call,
    );
    bomb.stderr?.resume();
    await new Promise<void>((resolve) => bomb.stdout?.once('data', () => resolve()));
    await expect.poll(() => countOnThisMachine(word)).toBeGreaterThan(20);
    expect(await countOnThisMachine(word)).toBeLessThan(60);
    // This machine goes on.
    expect(spawnSync('true').status).toBe(0);
    await cage.backend.destroy(sandbox.id, { force: true }, call);
    await bomb.wait().catch(() => undefined);
    await expect.poll(() => countOnThisMachine(word)).toBe(0);
  },
);

asRoot(enforceable({ memory: 64 << 20 }), 'a cgroup that limits memory')(
  'who takes too much memory is killed',
  async () => {
    const sandbox = await cage.make({ limits: { memory: 64 << 20 } });
    const { exit } = await sh(
      sandbox,
      'exec perl -e \'my $x = "x" x (1 << 20); push @a, $x . $_ for 1 .. 400\'',
    );
    expect(exit).toEqual({ signal: 'KILL' });
    expect(await say(sandbox, 'echo lives')).toBe('lives');
  },
);

asRoot(enforceable({ pids: 60 }), 'a cgroup that limits processes')(
  'limits cannot be lifted from inside',
  async () => {
    const sandbox = await cage.make({ limits: { pids: 60 } });
    for (const attempt of [
      'find / -xdev -name cgroup.procs | grep .',
      'mount -t cgroup -o pids none /media',
      'mount -t cgroup2 none /media',
      'unshare -UrmC mount -t cgroup2 none /media',
      'unshare -UrmC mount -t cgroup -o pids none /media',
    ])
      expect(await succeeds(sandbox, attempt)).toMatchObject({ ok: false });
  },
);

requireOrSkip(true, '')('a state folder with a name that other programs find hard works', async () => {
  for (const name of ['a b', 'c,d:e', 'back\\slash', 'hash#', 'täg✓', 'quote\'"$HOME', 'percent%41']) {
    const folder = mkdtempSync(join(tmpdir(), `sbx-escape ${name}-`));
    const { openLocalBackend } = await import('../../src/lib/backends/local/index.ts');
    const backend = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state: folder } });
    const sandbox = await backend.create({ env: {}, labels: {}, limits: {}, network: 'none' }, call);
    try {
      expect(await say(sandbox, 'echo x > f; cat f')).toBe('x');
      const snapshot = await sandbox.can.snapshots?.create({}, call);
      expect(await say(sandbox, 'cat f; cat /etc/hostname; ls -d /var/lib/sbx')).toContain('/var/lib/sbx');
      const second = await backend.create(
        { env: {}, labels: {}, limits: {}, network: 'none', snapshot: snapshot?.id },
        call,
      );
      expect(await say(second, 'cat f')).toBe('x');
      await backend.destroy(second.id, { force: true }, call);
    } finally {
      await backend.destroy(sandbox.id, { force: true }, call);
      rmSync(folder, { recursive: true, force: true });
    }
  }
});
