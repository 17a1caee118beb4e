import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Catalog, openBackends } from '../../src/lib/backend/registry.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { fakeType } from '../support/fake-backend.ts';
import { runVerb, type VerbOptions } from '../support/run-verb.ts';

const commands = {
  doctor: () => import('../../src/commands/doctor.ts'),
  prune: () => import('../../src/commands/prune.ts'),
  quota: () => import('../../src/commands/quota.ts'),
  capabilities: () => import('../../src/commands/capabilities.ts'),
};

let folder: string;
let removed: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-doctor-'));
  removed = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const broken = fakeType('broken', {
  checks: [{ name: 'engine', status: 'failed', detail: 'not there', hint: 'install it' }],
  prune: () => Promise.reject(new SbxError('unreachable', 'no answer')),
});
const tidy: Catalog = {
  local: fakeType('local', {
    capabilities: { fork: 'native', files: 'derived' },
    sandboxes: [
      { name: 'a', state: 'running' },
      { name: 'b', state: 'paused' },
      { name: 'c', state: 'stopped' },
    ],
    prune: async (dryRun) => {
      const id = 'half\u001b[2J';
      if (!dryRun) removed.push(id);
      return [{ kind: 'sandbox', id, reason: 'half-made', size: 2048 }];
    },
  }),
  broken,
  other: fakeType('other', { capabilities: { fork: 'derived' } }),
};

function sbx(line: string, config: unknown = {}, options: VerbOptions & { catalog?: Catalog } = {}) {
  writeFileSync(join(folder, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config), {
    mode: 0o600,
  });
  const env = { SBX_CONFIG_DIR: folder, SBX_STATE_DIR: folder };
  const { catalog = tidy, ...rest } = options;
  return runVerb(commands, line.split(' '), {
    ...rest,
    env,
    openBackends: async ({ paths, settings }) =>
      openBackends({ catalog, paths, env, preferred: settings.backend, notice: () => undefined }),
  });
}

describe('doctor', () => {
  test('exits 0 when sandboxes can be made, and tells of left-overs', async () => {
    const { exit, json } = await sbx('doctor --json');
    expect(exit).toBe(0);
    expect(json()).toMatchObject([
      { name: 'node', status: 'ok' },
      { name: 'configuration', status: 'ok' },
      { backend: 'local', name: 'fake', status: 'ok' },
      { backend: 'local', name: 'leftovers', status: 'warning', detail: '1 that nothing needs, 2K' },
    ]);
    expect(removed).toEqual([]);
  });

  test('exits 1 when the default backend fails, and 0 when only another does', async () => {
    const catalog: Catalog = { ...tidy, local: broken };
    expect(await sbx('doctor', {}, { catalog })).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('hint: engine: install it'),
    });
    const config = { backend: 'o', backends: { o: { type: 'other' } } };
    const { exit, json } = await sbx('doctor --json', config, { catalog });
    expect(exit).toBe(0);
    expect(json()).toContainEqual(
      expect.objectContaining({ backend: 'local', name: 'engine', status: 'warning' }),
    );
    expect(await sbx('doctor', { backends: { x: { type: 'broken' } } })).toMatchObject({ exit: 0 });
  });

  test('a broken config file is a finding', async () => {
    const { exit, json } = await sbx('doctor --json', '{');
    expect(exit).toBe(1);
    expect(json()).toContainEqual({
      name: 'configuration',
      status: 'failed',
      detail: expect.stringContaining(join(folder, 'config.json')),
      hint: expect.stringContaining('mv '),
    });
  });

  test('a default backend that is not configured is a finding', async () => {
    expect(await sbx('doctor', { backend: 'gone' })).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining("'gone'"),
    });
  });
});

describe('prune', () => {
  test('--dry-run removes nothing and tells how much', async () => {
    const { exit, stdout, stderr } = await sbx('prune --dry-run');
    expect({ exit, removed }).toEqual({ exit: 0, removed: [] });
    expect(stdout).toBe(
      'BACKEND  KIND     ID         SIZE  REASON\nlocal    sandbox  half\\e[2J    2K  half-made\n',
    );
    expect(stderr).toBe('1 thing (2K) would be removed\n');
  });

  test('without a terminal it needs --yes, and says so', async () => {
    const { exit, stdout, stderr } = await sbx('prune');
    expect({ exit, stdout, removed }).toEqual({ exit: 2, stdout: '', removed: [] });
    expect(stderr).toContain('--yes');
  });

  test('--yes removes', async () => {
    expect(await sbx('prune -y')).toMatchObject({ exit: 0, stderr: '1 thing (2K) removed\n' });
    expect(removed).toHaveLength(1);
  });

  test('what is asked about is shown without its control characters', async () => {
    const prompter = {
      canAsk: true,
      confirm: async () => false,
      select: () => Promise.reject(),
      input: async () => '',
    };
    const { stderr } = await sbx('prune', {}, { prompter });
    expect(stderr).toContain('sandbox half\\e[2J: half-made');
    expect(stderr).not.toContain('\u001b');
  });

  test('the answer on a terminal counts', async () => {
    for (const [answer, exit] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const prompter = {
        canAsk: true,
        confirm: async () => answer,
        select: () => Promise.reject(),
        input: async () => '',
      };
      expect(await sbx('prune', {}, { prompter })).toMatchObject({ exit });
      expect(removed).toHaveLength(answer ? 1 : 0);
    }
  });

  test('a backend that fails spoils nothing for the others and makes it exit 1', async () => {
    const { exit, stderr } = await sbx('prune --all --yes --json', { backends: { x: { type: 'broken' } } });
    expect({ exit, removed: removed.length }).toEqual({ exit: 1, removed: 1 });
    expect(stderr).toContain("backend 'x': no answer");
  });

  test('--all and --backend exclude each other; an unknown backend is not found', async () => {
    expect(await sbx('prune --all --backend local')).toMatchObject({ exit: 2 });
    expect(await sbx('prune --backend nope')).toMatchObject({ exit: 3 });
  });
});

test('quota counts', async () => {
  expect((await sbx('quota --json')).json()).toEqual([{ backend: 'local', used: 2, total: 3 }]);
  expect((await sbx('quota')).stdout).toBe('BACKEND  USED  TOTAL\nlocal       2      3\n');
  expect(await sbx('quota --backend nope')).toMatchObject({ exit: 3 });
  expect(await sbx('quota', { backends: { x: { type: 'gone' } } })).toMatchObject({
    exit: 1,
    stdout: expect.stringContaining('local       2'),
    stderr: expect.stringContaining("backend 'x'"),
  });
});

describe('capabilities', () => {
  test('the matrix of all types', async () => {
    const lines = (await sbx('capabilities')).stdout.split('\n');
    expect(lines[0]).toMatch(/^CAPABILITY +LOCAL +BROKEN +OTHER +VERBS$/);
    expect(lines).toContainEqual(expect.stringMatching(/^fork +native +- +derived +fork$/));
    expect(lines).toContainEqual(expect.stringMatching(/^files +derived +- +- +files$/));
  });

  test('one backend, as JSON', async () => {
    const rows = (await sbx('capabilities o --json', { backends: { o: { type: 'other' } } })).json();
    expect(rows).toContainEqual({ capability: 'fork', verbs: 'fork', support: { other: 'derived' } });
    expect(rows).toContainEqual({ capability: 'files', verbs: 'files', support: {} });
    expect(await sbx('capabilities nope')).toMatchObject({ exit: 3 });
  });
});
