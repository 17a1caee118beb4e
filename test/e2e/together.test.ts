/** Many clients at once: nothing is lost, and whoever comes second is told so. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect } from 'vitest';
import { countOnThisMachine, uniqueSleep } from '../conformance/harness.ts';
import { clientAt, entries, leftovers, list, must, sbx } from '../support/crash.ts';
import { requireOrSkip } from '../support/require.ts';

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const home = await mkdtemp(join(tmpdir(), 'sbx-together-'));
const client = clientAt(home);
const usable = sbx(client, 'create', 'probe').code === 0;
sbx(client, 'rm', '--force', '--yes', 'probe');
const together = requireOrSkip(usable, 'the local backend');

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...args], { env: client.env, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function finish(child: ChildProcess): Promise<Result> {
  const read = (stream: ChildProcess['stdout']) => (stream === null ? '' : text(stream));
  const [stdout, stderr, [code]] = await Promise.all([
    read(child.stdout),
    read(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  return { code, stdout, stderr };
}

/** Runs them all at the same time. */
const all = (...lines: readonly (readonly string[])[]) =>
  Promise.all(lines.map((args) => finish(start(...args))));
const many = (count: number, line: (at: number) => readonly string[]) =>
  all(...Array.from({ length: count }, (_, at) => line(at)));
const codes = (results: readonly Result[]) => results.map(({ code }) => code).sort();
const create = (name: string) => must(client, 'create', name, '--network', 'none');

afterEach(() => {
  if (list(client).length > 0) must(client, 'rm', '--all', '--force', '--yes');
});
afterAll(async () => {
  sbx(client, 'rm', '--all', '--force', '--yes');
  await rm(home, { recursive: true, force: true });
}, 60_000);

describe('clients at the same time', { timeout: 120_000 }, () => {
  together('50 creates all succeed, with distinct names', async () => {
    const made = await many(50, () => ['create', '--network', 'none']);
    expect(codes(made)).toEqual(new Array(50).fill(0));
    expect(new Set(made.map(({ stdout }) => stdout)).size).toBe(50);
    expect(list(client).filter(({ state }) => state === 'running')).toHaveLength(50);
    must(client, 'rm', '--all', '--force', '--yes');
    expect(await leftovers(client, [])).toEqual([]);
  });

  together('of 20 creates with one name one wins and the others leave nothing', async () => {
    const made = await many(20, () => ['create', 'same', '--network', 'none']);
    expect(codes(made)).toEqual([0, ...new Array(19).fill(1)]);
    for (const { code, stderr } of made) if (code === 1) expect(stderr).toContain("'same' already");
    expect(entries(join(client.root, 'sandboxes'))).toHaveLength(1);
    expect(await leftovers(client, [])).toEqual([]);
  });

  together('a free name whose sandbox was lost is given to one of many', async () => {
    create('other');
    symlinkSync('0123456789ab', join(client.root, 'names', 'same'));
    expect(codes(await many(8, () => ['create', 'same', '--network', 'none']))).toEqual([
      0, 1, 1, 1, 1, 1, 1, 1,
    ]);
  });

  together('60 execs in one sandbox all get their own output', async () => {
    create('box');
    const done = await many(60, (at) => ['exec', 'box', '--', 'echo', `number ${at}`]);
    expect(done.map(({ stdout }) => stdout)).toEqual(done.map((_, at) => `number ${at}\n`));
  });

  together('creates and removals of one name leave a whole sandbox or none', async () => {
    await many(12, (at) =>
      at % 2 === 0 ? ['create', 'box', '--network', 'none'] : ['rm', '--force', '--yes', 'box'],
    );
    for (const { name } of list(client)) must(client, 'exec', name, '--', 'true');
    expect(await leftovers(client, [])).toEqual([]);
  });

  together('of two removals the second finds nothing, and with --force that is no error', async () => {
    create('box');
    must(client, 'stop', 'box');
    expect(codes(await many(2, () => ['rm', '--yes', 'box'])).at(0)).toBe(0);
    expect(list(client)).toEqual([]);
    create('box');
    expect(codes(await many(2, () => ['rm', '--force', '--yes', 'box']))).toEqual([0, 0]);
  });

  for (const [verb, ...args] of [
    ['rm', '--force', '--yes'],
    ['stop', '--timeout', '0s'],
  ] as const)
    together(`exec ends with 125 and a reason when ${verb} ends its sandbox`, async () => {
      create('box');
      const exec = start('exec', 'box', '--', 'sh', '-c', 'echo ready; sleep 1000');
      const ready = once(exec.stdout as NodeJS.ReadableStream, 'data');
      const result = finish(exec);
      await ready;
      must(client, verb, ...args, 'box');
      expect(await result).toMatchObject({
        code: 125,
        stderr: expect.stringContaining("sandbox 'box' was stopped or removed"),
      });
    });

  together('two starts, and a snapshot during a stop, wait for each other', async () => {
    create('box');
    must(client, 'exec', 'box', '--', 'sh', '-c', 'echo kept > /workspace/file');
    must(client, 'stop', 'box');
    expect(codes(await many(2, () => ['start', 'box']))).toEqual([0, 0]);
    const both = await all(['snapshot', 'create', 'box'], ['stop', 'box', '--timeout', '0s']);
    expect(codes(both)).toEqual([0, 0]);
    must(client, 'start', 'box');
    expect(must(client, 'exec', 'box', '--', 'cat', '/workspace/file')).toBe('kept\n');
    must(client, 'snapshot', 'rm', '--yes', (both[0]?.stdout ?? '').trim());
  });

  together('changes of one environment and of the configuration are all kept', async () => {
    create('box');
    await many(8, (at) => ['env', 'set', 'box', `K${at}=${at}`]);
    expect(must(client, 'env', 'ls', 'box').match(/^K\d/gm)).toHaveLength(8);
    const keys = ['defaults.ttl=1h', 'defaults.network=none'].map((pair) => pair.split('='));
    const set = await all(...keys.map((words) => ['config', 'set', ...words]));
    expect(set.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      keys.map(() => ({ code: 0, stderr: '' })),
    );
    for (const [key = '', value = ''] of keys) expect(must(client, 'config', 'get', key).trim()).toBe(value);
    for (const [key = ''] of keys) must(client, 'config', 'unset', key);
  });

  together(
    'rm and stop end processes that ignore TERM and have left their session, frozen ones too',
    async () => {
      for (const [paused, ...ending] of [
        [false, 'rm', '--force', '--yes', 'box'],
        [true, 'rm', '--force', '--yes', 'box'],
        [true, 'stop', 'box'],
      ] as const) {
        create('box');
        const seconds = uniqueSleep();
        const stubborn = `trap '' TERM HUP; sleep ${seconds} & touch /tmp/there; wait; sleep ${seconds}`;
        const script = '(setsid sh -c "$1" >/dev/null 2>&1 &); until [ -e /tmp/there ]; do :; done';
        must(client, 'exec', 'box', '--', 'sh', '-c', script, 'sh', stubborn);
        expect(await countOnThisMachine(seconds)).toBeGreaterThan(0);
        if (paused) must(client, 'pause', 'box');
        must(client, ...ending);
        expect(await countOnThisMachine(seconds)).toBe(0);
        must(client, 'rm', '--force', '--yes', 'box');
      }
    },
  );
});
