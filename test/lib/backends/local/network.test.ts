/** What connects a sandbox to the world, started as a sandbox starts it. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { connectNetwork, findProgram } from '../../../../src/lib/backends/local/network.ts';
import { asRoot } from '../../../support/require.ts';
import { canMount, tinyDisk } from '../../../support/tiny-disk.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-network-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** A process in namespaces of its own, as a sandbox has; its id. */
async function inside(): Promise<AsyncDisposable & { readonly pid: number }> {
  const text = 'echo ready; exec sleep 1000';
  const child = spawn('unshare', ['--user', '--map-root-user', '--net', 'sh', '-c', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return {
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

describe.each(['slirp4netns', 'pasta'] as const)('%s', (tool) => {
  const test = asRoot(canMount && findProgram(tool) !== undefined, `the right to mount, and ${tool}`);

  test('leaves the mounts of this machine alone, also those that are shared', async () => {
    const shared = join(folder, 'shared');
    using _outer = tinyDisk(shared);
    execFileSync('mount', ['--make-shared', shared]);
    const inner = join(shared, 'inner');
    using _inner = tinyDisk(inner);
    writeFileSync(join(inner, 'file'), 'here');
    await using sandbox = await inside();
    const { pid } = await connectNetwork(sandbox.pid, { mode: 'private', tool }, join(folder, 'pid'));
    process.kill(pid, 'SIGKILL');
    expect(readFileSync(join(inner, 'file'), 'utf8')).toBe('here');
  });
});
