/** Copies on a real engine: what it sees and what it does not, what it holds up meanwhile, and what a cut copy leaves. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { goByEngine } from '../support/engines/by-engine.ts';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { engineHost, onEngine } from '../support/engines/shared.ts';

/** Where commands start past the engine, the sandbox's own tar has the trees. */
const WAYS = ['past the engine', 'by the engine'] as const;
/** More than the pipes and sockets on the way hold. */
const LARGE = 16 * 1024 * 1024;

describe.each(WAYS)('%s', (way) => {
  let folder: string;
  let client: EngineClient;

  beforeAll(() => {
    if (engineHost === undefined) return;
    folder = mkdtempSync(join(tmpdir(), 'sbx-cp-'));
    client = engineClient(folder, engineHost);
    client.must('create', 'cp-box', '--image', 'sbx-test/busybox', '--network', 'none');
    if (way === 'by the engine') goByEngine(folder);
  });
  afterAll(() => {
    if (engineHost === undefined) return;
    client.must('rm', '--force', 'cp-box');
    rmSync(folder, { recursive: true });
  });
  const local = (name: string, content: string | Buffer = name) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const inside = (text: string) => client.must('exec', 'cp-box', '--', 'sh', '-c', text);
  const docker = (...args: readonly string[]) =>
    spawnSync('docker', ['--host', engineHost ?? '', ...args], { encoding: 'utf8' }).stdout.trim();

  describe('what the engine does not see is copied all the same', () => {
    onEngine('a file system that is mounted inside', () => {
      client.must('cp', local('shm'), 'cp-box:/dev/shm/shm');
      expect(inside('cat /dev/shm/shm')).toBe('shm');
      client.must('cp', 'cp-box:/dev/shm/shm', join(folder, 'from-shm'));
      expect(readFileSync(join(folder, 'from-shm'), 'utf8')).toBe('shm');
    });

    onEngine('behind a symlink on the way', () => {
      inside('ln -s /dev/shm /root/way; mkdir /dev/shm/sub; echo there > /dev/shm/sub/file');
      client.must('cp', 'cp-box:/root/way/sub', join(folder, 'sub'));
      expect(readFileSync(join(folder, 'sub/file'), 'utf8')).toBe('there\n');
      client.must('cp', local('linked'), 'cp-box:/root/way/');
      expect(inside('cat /dev/shm/linked')).toBe('linked');
    });
  });

  onEngine('a name that is not ASCII, in a folder, comes out as the file that it is', () => {
    inside('mkdir -p /root/odd/dir; echo content > /root/odd/dir/é');
    client.must('cp', 'cp-box:/root/odd', folder);
    expect(readFileSync(join(folder, 'odd/dir/é'), 'utf8')).toBe('content\n');
  });

  onEngine('a copy out of a sandbox that is stopped', () => {
    inside('echo kept > /root/kept');
    client.must('stop', 'cp-box');
    try {
      client.must('cp', 'cp-box:/root/kept', folder);
    } finally {
      client.must('start', 'cp-box');
    }
    expect(readFileSync(join(folder, 'kept'), 'utf8')).toBe('kept\n');
  });

  onEngine('both ends of a copy may be one sandbox', () => {
    inside(`head -c ${LARGE} /dev/urandom > /root/one`);
    client.must('cp', 'cp-box:/root/one', 'cp-box:/root/two');
    inside('cmp /root/one /root/two');
  });

  onEngine('a copy whose reader waits does not hold up other commands', async () => {
    inside(`head -c ${LARGE} /dev/zero > /root/waited`);
    const copy = client.start('cp', 'cp-box:/root/waited', '-');
    await copy.prints('waited');
    expect(client.run('exec', 'cp-box', '--', 'true')).toMatchObject({ code: 0 });
    copy.kill();
    await copy.ended;
  });

  onEngine('a volume that is read-only says so', () => {
    const source = join(folder, 'volume');
    mkdirSync(source);
    client.must(
      'create',
      'ro-box',
      '--image',
      'sbx-test/busybox',
      '--network',
      'none',
      '--volume',
      `${source}:/ro:ro`,
    );
    try {
      const ended = client.run('cp', local('f'), 'ro-box:/ro');
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('read-only') });
    } finally {
      client.must('rm', '--force', 'ro-box');
    }
  });

  describe('nothing is left', () => {
    onEngine('where something else is', () => {
      inside('mkdir -p /root/taken/name');
      const ended = client.run('cp', local('name'), 'cp-box:/root/taken');
      expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('on one side only') });
      expect(ended.stderr).not.toContain('left behind');
      expect(inside('ls -A /root/taken /root/taken/name')).toBe('/root/taken:\nname\n\n/root/taken/name:\n');
    });

    onEngine('when the client is killed', async () => {
      inside('mkdir /root/killed');
      const pid = docker('inspect', '--format', '{{.State.Pid}}', 'cp-box');
      const there = () => readdirSync(`/proc/${pid}/root/root/killed`);
      const huge = local('huge');
      truncateSync(huge, 8 * 1024 ** 3);
      const copy = client.start('cp', huge, 'cp-box:/root/killed');
      await expect.poll(there).toEqual([expect.stringMatching(/^\.sbx-/)]);
      copy.kill();
      await expect.poll(there).toEqual([]);
    });
  });

  onEngine('a sandbox without tar is copied from and to by the engine', () => {
    client.must('create', 'tarless', '--image', 'sbx-test/debian-dtach', '--network', 'none');
    try {
      client.must(
        'exec',
        'tarless',
        '--',
        'sh',
        '-c',
        'rm "$(command -v tar)"; mkdir /root/d; echo there > /root/d/f',
      );
      client.must('cp', 'tarless:/root/d', join(folder, 'from-tarless'));
      expect(readFileSync(join(folder, 'from-tarless', 'f'), 'utf8')).toBe('there\n');
      client.must('cp', join(folder, 'from-tarless'), 'tarless:/root/e');
      expect(client.must('exec', 'tarless', '--', 'cat', '/root/e/f')).toBe('there\n');
      const piped = client.run('cp', 'tarless:/root/d', '-');
      expect(piped).toMatchObject({ code: 5, stderr: expect.stringContaining('has no tar') });
    } finally {
      client.must('rm', '--force', 'tarless');
    }
  });
});
