/** Files and folders of the local backend that are broken, full, read-only or somebody else's. */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { type Client, clientAt, entries, idsIn, leftovers, list, must, sbx } from '../support/crash.ts';
import { asRoot, requireOrSkip } from '../support/require.ts';
import { canMount, mounting } from '../support/tiny-disk.ts';

let home: string;
let client: Client;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sbx-broken-'));
  client = clientAt(home);
});
afterEach(async () => {
  if (idsIn(client).length > 0) sbx(client, 'rm', '--all', '--force', '--yes');
  await rm(home, { recursive: true, force: true });
});

const local = requireOrSkip(await works(), 'the local backend');
const create = (name: string) => must(client, 'create', name, '--network', 'none');
const folderOf = (name: string) =>
  join(client.root, 'sandboxes', readlinkSync(join(client.root, 'names', name)));
const BROKEN = ['{gar', '', '{}', 'null', '[]', '"text"', '{"version":1}'];

describe('the local backend', { timeout: 120_000 }, () => {
  local(
    'a broken record hides no other sandbox, is named with its path, and can be removed by its id',
    async () => {
      create('good');
      create('bad');
      const folder = folderOf('bad');
      const record = join(folder, 'record.json');
      const id = readlinkSync(join(client.root, 'names', 'bad'));
      copyFileSync(record, join(home, 'kept'));
      for (const text of BROKEN) {
        writeFileSync(record, text);
        const all = sbx(client, 'ls', '--all', '--json');
        expect(all).toMatchObject({ code: 0, stderr: expect.stringContaining(record) });
        expect(JSON.parse(all.stdout)).toMatchObject(
          expect.arrayContaining([
            expect.objectContaining({ name: 'good', state: 'running' }),
            expect.objectContaining({
              id,
              name: 'bad',
              state: 'failed',
              reason: expect.stringContaining(record),
            }),
          ]) as unknown[],
        );
        expect(sbx(client, 'exec', 'bad', '--', 'true')).toMatchObject({
          code: 125,
          stderr: expect.stringContaining(record),
        });
        expect(sbx(client, 'stop', 'bad')).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(record),
        });
      }
      copyFileSync(join(home, 'kept'), record);
      must(client, 'exec', 'bad', '--', 'true');
      writeFileSync(record, '{gar');
      must(client, 'rm', '--force', '--yes', id);
      expect(await leftovers(client, [id])).toEqual([]);
      create('bad');
      expect(
        list(client)
          .map(({ name }) => name)
          .sort(),
      ).toEqual(['bad', 'good']);
    },
  );

  local('a broken init file is named with its path, and start and rm end what runs', async () => {
    create('box');
    const init = join(folderOf('box'), 'init.json');
    const id = readlinkSync(join(client.root, 'names', 'box'));
    for (const text of ['{gar', '', 'null']) {
      writeFileSync(init, text);
      expect(list(client)).toMatchObject([
        { name: 'box', state: 'failed', reason: expect.stringContaining(init) },
      ]);
      expect(sbx(client, 'exec', 'box', '--', 'true')).toMatchObject({
        code: 125,
        stderr: expect.stringContaining(init),
      });
      must(client, 'start', 'box');
      expect(must(client, 'exec', 'box', '--', 'echo', 'back')).toBe('back\n');
    }
    writeFileSync(init, '{gar');
    must(client, 'rm', '--force', '--yes', 'box');
    expect(await leftovers(client, [id])).toEqual([]);
  });

  local('after a reboot a sandbox is stopped and can be started', () => {
    create('box');
    const init = join(folderOf('box'), 'init.json');
    const old = JSON.parse(readFileSync(init, 'utf8')) as { pid: number };
    process.kill(old.pid, 'SIGKILL');
    writeFileSync(
      init,
      JSON.stringify({ ...old, pid: process.pid, bootId: '00000000-0000-0000-0000-000000000000' }),
    );
    expect(list(client)).toMatchObject([{ name: 'box', state: 'stopped' }]);
    must(client, 'start', 'box');
    must(client, 'exec', 'box', '--', 'true');
  });

  local('a broken snapshot hides no other, keeps its layers, and can be removed by its id', () => {
    create('box');
    must(client, 'exec', 'box', '--', 'sh', '-c', 'echo one > /workspace/file');
    const bad = must(client, 'snapshot', 'create', 'box', '--name', 'bad').trim();
    must(client, 'exec', 'box', '--', 'sh', '-c', 'echo two > /workspace/file');
    must(client, 'snapshot', 'create', 'box', '--name', 'good');
    const path = join(client.root, 'snapshots', `${bad}.json`);
    copyFileSync(path, join(home, 'kept'));
    writeFileSync(path, '{gar');
    expect(sbx(client, 'snapshot', 'ls')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('good'),
      stderr: expect.stringContaining(path),
    });
    must(client, 'rm', '--force', '--yes', 'box');
    must(client, 'prune', '--yes');
    copyFileSync(join(home, 'kept'), path);
    must(client, 'create', 'again', '--network', 'none', '--from', 'bad');
    expect(must(client, 'exec', 'again', '--', 'cat', '/workspace/file')).toBe('one\n');
    writeFileSync(path, '{gar');
    must(client, 'snapshot', 'rm', '--yes', bad);
    expect(must(client, 'snapshot', 'ls', '-q').trim().split('\n')).toHaveLength(1);
  });

  local('a name with nothing behind it is free', () => {
    create('first');
    symlinkSync('0123456789ab', join(client.root, 'names', 'dangling'));
    mkdirSync(join(client.root, 'names', 'folder'));
    writeFileSync(join(client.root, 'names', 'file'), '');
    for (const name of ['dangling', 'folder', 'file']) {
      expect(sbx(client, 'exec', name, '--', 'true').code).toBe(125);
      create(name);
      must(client, 'exec', name, '--', 'true');
    }
  });
});

describe('a state folder', { timeout: 120_000 }, () => {
  mounting(
    'on a full disk: the path is named, nothing is left, old sandboxes are intact and can be removed',
    () => {
      const disk = join(home, 'state');
      mkdirSync(disk);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600k,mode=700', 'tmpfs', disk]);
      try {
        create('old');
        must(client, 'exec', 'old', '--', 'sh', '-c', 'echo kept > /workspace/file');
        for (const left of [0, 4, 8, 12, 16, 24, 32]) {
          fill(disk, left);
          const made = sbx(client, 'create', 'new', '--network', 'none');
          if (made.code === 0) must(client, 'rm', '--force', '--yes', 'new');
          else expect(made).toMatchObject({ code: 1, stderr: expect.stringContaining(disk) });
          const taken = sbx(client, 'snapshot', 'create', 'old');
          if (taken.code !== 0)
            expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining(disk) });
          expect(must(client, 'exec', 'old', '--', 'cat', '/workspace/file')).toBe('kept\n');
          expect(entries(join(client.root, 'names'))).toEqual(['old']);
          expect(entries(join(client.root, 'sandboxes'))).toHaveLength(1);
          rmFill(disk);
        }
        fill(disk, 0);
        must(client, 'stop', 'old');
        must(client, 'rm', '--force', '--yes', 'old');
        expect(readdirSync(join(client.root, 'sandboxes'))).toEqual([]);
      } finally {
        sbx(client, 'rm', '--all', '--force', '--yes');
        execFileSync('umount', ['-l', disk]);
      }
    },
  );

  mounting('that is read-only: each change says so with the path, and nothing is lost', () => {
    const disk = join(home, 'state');
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'tmpfs', disk]);
    try {
      create('box');
      execFileSync('mount', ['-o', 'remount,ro', disk]);
      for (const line of [
        'create new',
        'stop box',
        'rm -f -y box',
        'snapshot create box',
        'env set box A=b',
        'rename box other',
      ])
        expect(sbx(client, ...line.split(' '))).toMatchObject({
          code: 1,
          stderr: expect.stringContaining(disk),
        });
      expect(list(client)).toMatchObject([{ name: 'box', state: 'running' }]);
    } finally {
      execFileSync('mount', ['-o', 'remount,rw', disk]);
      expect(must(client, 'exec', 'box', '--', 'echo', 'fine')).toBe('fine\n');
      sbx(client, 'rm', '--all', '--force', '--yes');
      execFileSync('umount', ['-l', disk]);
    }
  });

  mounting('that no overlay can stand on: the path is named and nothing is left', async () => {
    const folder = join(home, 'state');
    for (const name of ['lower', 'upper', 'work', 'state']) mkdirSync(join(home, name));
    const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(home, name)}`).join(',');
    execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, folder]);
    try {
      expect(sbx(client, 'create', 'box', '--network', 'none')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(folder),
      });
      expect(await leftovers(client, [])).toEqual([]);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  });

  asRoot(canMount, 'another owner')('of somebody else is refused with its path', () => {
    mkdirSync(client.root, { recursive: true });
    chownSync(client.root, 65_534, 65_534);
    for (const line of ['create box', 'ls --all', 'exec box -- true'])
      expect(sbx(client, ...line.split(' ')).stderr).toContain(`cannot use ${client.root}`);
  });
});

function fill(disk: string, leftKiB: number): void {
  const free = Number(
    execFileSync('df', ['-k', '--output=avail', disk], { encoding: 'utf8' }).split('\n')[1],
  );
  writeFileSync(join(disk, 'fill'), Buffer.alloc(Math.max(0, free - leftKiB) * 1024));
}

function rmFill(disk: string): void {
  execFileSync('rm', [join(disk, 'fill')]);
}

async function works(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'sbx-broken-'));
  const probe = clientAt(folder);
  try {
    return (
      sbx(probe, 'create', 'probe').code === 0 && sbx(probe, 'rm', '--force', '--yes', 'probe').code === 0
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
