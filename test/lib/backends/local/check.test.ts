import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { checkLocal } from '../../../../src/lib/backends/local/check.ts';
import { requireOrSkip } from '../../../support/require.ts';
import { mounting, tinyDisk } from '../../../support/tiny-disk.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-check-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = { signal: new AbortController().signal };
const onLinux = requireOrSkip(process.platform === 'linux', 'Linux');

async function check(state: string) {
  return Object.fromEntries((await checkLocal(state, call)).map((result) => [result.name, result]));
}

onLinux('makes the state folder and leaves nothing in it', async () => {
  const state = join(folder, 'a/state');
  const results = await check(state);
  expect(results['state folder']).toEqual({ name: 'state folder', status: 'ok', detail: state });
  expect(readdirSync(state)).toEqual([]);
});

onLinux('a state folder that cannot be made fails, and nothing that needs it is tried', async () => {
  writeFileSync(join(folder, 'file'), '');
  const results = await check(join(folder, 'file/state'));
  expect(results['state folder']).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining(join(folder, 'file/state')),
  });
  expect(results['overlay mounts']).toBeUndefined();
  expect(results['disk space']).toBeUndefined();
});

onLinux('whatever is not well comes with something to do', async () => {
  for (const { status, hint } of await checkLocal(folder, call)) {
    if (status !== 'ok') expect(hint).toBeTruthy();
  }
});

onLinux('stops when it is called off', async () => {
  await expect(checkLocal(folder, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'interrupted',
  });
});

mounting('a state folder on an overlay file system cannot hold sandboxes', async () => {
  const merged = join(folder, 'merged');
  for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(join(folder, name));
  const options = `lowerdir=${folder}/lower,upperdir=${folder}/upper,workdir=${folder}/work`;
  execFileSync('mount', ['-t', 'overlay', 'overlay', '-o', options, merged]);
  try {
    expect((await check(merged))['overlay mounts']).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining(`${merged} on overlay`),
      hint: expect.stringContaining('SBX_STATE_DIR'),
    });
  } finally {
    execFileSync('umount', ['-l', merged]);
  }
});

mounting('next to no free space fails', async () => {
  using _disk = tinyDisk(join(folder, 'tiny'));
  expect((await check(join(folder, 'tiny')))['disk space']).toMatchObject({
    status: 'failed',
    hint: expect.stringContaining('sbx prune'),
  });
});
