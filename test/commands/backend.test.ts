import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Catalog } from '../../src/lib/backend/registry.ts';
import { openBackends } from '../../src/lib/backend/registry.ts';
import { manifest as docker } from '../../src/lib/backends/docker/manifest.ts';
import { fakeType } from '../support/fake-backend.ts';
import { runVerb, type VerbOptions } from '../support/run-verb.ts';
import { scripted } from '../support/scripted.ts';

const commands = {
  'backend:ls': () => import('../../src/commands/backend/ls.ts'),
  'backend:add': () => import('../../src/commands/backend/add.ts'),
  'backend:use': () => import('../../src/commands/backend/use.ts'),
  'backend:rm': () => import('../../src/commands/backend/rm.ts'),
  'backend:check': () => import('../../src/commands/backend/check.ts'),
  'config:ls': () => import('../../src/commands/config/ls.ts'),
  'config:get': () => import('../../src/commands/config/get.ts'),
  'config:set': () => import('../../src/commands/config/set.ts'),
  'config:unset': () => import('../../src/commands/config/unset.ts'),
  'config:path': () => import('../../src/commands/config/path.ts'),
};

const catalog: Catalog = {
  local: fakeType('local'),
  cloud: fakeType('cloud', {
    config: [
      { name: 'token', description: 'API token', required: true, secret: true },
      { name: 'url', description: 'address', required: false },
      { name: 'pace', description: 'how fast', required: false, values: ['fast', 'slow'] },
    ],
    checks: [
      { name: 'reach', status: 'ok', detail: 'answers' },
      { name: 'quota', status: 'failed', detail: 'used up', hint: 'pay' },
    ],
  }),
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-backend-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sbx(line: string | readonly string[], options: VerbOptions = {}) {
  const env = { SBX_CONFIG_DIR: folder, SBX_STATE_DIR: folder, ...options.env };
  return runVerb(commands, typeof line === 'string' ? line.split(' ') : line, {
    ...options,
    env,
    openBackends: async ({ paths, settings }) =>
      openBackends({ catalog, paths, env, preferred: settings.backend, notice: () => undefined }),
  });
}
const file = () => JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as unknown;
const added = () =>
  sbx('backend add prod --type cloud --set url=https://c.example --token-env PROD_TOKEN --use');

test('add, ls, use and rm', async () => {
  expect(await added()).toMatchObject({ exit: 0, stderr: 'try it: sbx backend check prod\n' });
  expect(file()).toEqual({
    backend: 'prod',
    backends: { prod: { type: 'cloud', url: 'https://c.example', token: { env: 'PROD_TOKEN' } } },
  });
  expect((await sbx('backend ls')).stdout).toBe(
    'NAME   TYPE   DEFAULT\nlocal  local  -\nprod   cloud  yes\n',
  );
  expect(await sbx('backend use local -q')).toMatchObject({ exit: 0, stdout: 'local\n' });
  expect((await sbx('backend ls --json')).json()).toEqual([
    { name: 'local', type: 'local', title: 'the local type', default: true },
    { name: 'prod', type: 'cloud', title: 'the cloud type', default: false },
  ]);
  expect(await sbx('backend rm prod')).toMatchObject({ exit: 2, stdout: '' });
  expect(await sbx('backend rm prod --yes')).toMatchObject({ exit: 0 });
  expect(file()).toEqual({ backend: 'local', backends: {} });
});

test('removing the default leaves local as the default', async () => {
  await added();
  await sbx('backend rm prod -y');
  expect(file()).toEqual({ backends: {} });
  expect(await sbx('backend rm local -y')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('cannot be removed'),
  });
  expect(await sbx('backend rm prd -y')).toMatchObject({ exit: 3 });
  expect(await sbx('backend use prod')).toMatchObject({ exit: 3 });
});

test('the help of add names every option of docker', async () => {
  const { description } = (await commands['backend:add']()).default;
  for (const { name } of docker.config) expect(description).toMatch(new RegExp(`\\b${name}\\b`));
});

test.each([
  ['backend add prod --type clod', 'did you mean cloud?'],
  ['backend add a/b --type cloud', 'cannot be the name'],
  ['backend add prod --type cloud --set token=s3cret', 'token is a secret'],
  ['backend add prod --type cloud --set-env token=s3-cret', 'takes the name of an environment variable'],
  ['backend add prod --type cloud --token-env s3-cret', 'takes the name of an environment variable'],
  ['backend add prod --type cloud --set speed=1', 'has no option speed'],
  ['backend add prod --type cloud --set pace=sluggish', 'pace cannot be "sluggish"'],
  ['backend add prod --type cloud --set url=1 --set url=2', 'given more than once'],
  ['backend add prod --type cloud --set url=1 --url 2', 'given more than once'],
  ['backend add prod --type local --token-env T', 'has no secret'],
  ['backend add local --type cloud', 'is the name of the backend of this machine'],
  ['config set backends.prod.token s3cret', 'token is a secret'],
  ['config set backends.prod.token --from-env s3-cret', 'takes the name of an environment variable'],
  ['config set backends.prod.pace sluggish', 'pace cannot be "sluggish"'],
  ['config set backends.prod.type local', 'does not change'],
  ['config set memory 1g', "there is no setting 'memory'"],
  ['config set defaults.memory', 'there is no value'],
  ['config set defaults.backend x', 'has a key of its own'],
])('refuses %s', async (line, message) => {
  if (line.startsWith('config')) await added();
  const before = line.startsWith('config') ? file() : undefined;
  const { exit, stdout, stderr } = await sbx(line);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).not.toMatch(/s3-?cret/);
  if (before !== undefined) expect(file()).toEqual(before);
});

test('a name that is taken is a conflict, and so is a second backend of this machine', async () => {
  expect(await sbx('backend add me --type local')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('sbx backend use local'),
  });
  await added();
  expect(await added()).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('hint: sbx backend rm prod'),
  });
});

test('check says what fails and exits 1; ls --check too, without failing', async () => {
  await added();
  expect(await sbx('backend check local')).toMatchObject({ exit: 0 });
  const unset = await sbx('backend check prod --json');
  expect(unset.exit).toBe(1);
  expect(unset.json()).toMatchObject([{ name: 'open', status: 'failed', hint: 'export PROD_TOKEN=…' }]);
  const env = { PROD_TOKEN: 'x' };
  expect(await sbx('backend check', { env })).toMatchObject({
    exit: 1,
    stdout: 'CHECK  STATUS  DETAIL\nreach  ok      answers\nquota  failed  used up\n',
    stderr: 'hint: quota: pay\n',
  });
  const listed = await sbx('backend ls --check --json', { env });
  expect(listed.exit).toBe(0);
  expect(listed.json()).toMatchObject([
    { name: 'local', status: 'ok' },
    { name: 'prod', status: 'failed', problem: 'used up' },
  ]);
  expect(await sbx('backend check nope')).toMatchObject({ exit: 3 });
});

test('config: set, get, ls, unset and path', async () => {
  await added();
  expect(await sbx('config set defaults.memory 1g')).toMatchObject({ exit: 0 });
  expect(await sbx('config get defaults.memory')).toMatchObject({ exit: 0, stdout: '1g\n' });
  expect(await sbx('config get backends.prod.token')).toMatchObject({ stdout: '$PROD_TOKEN\n' });
  expect((await sbx('config ls')).stdout).toBe(
    [
      'KEY                  VALUE',
      'backend              prod',
      'backends.prod.url    https://c.example',
      'backends.prod.token  $PROD_TOKEN',
      'backends.prod.type   cloud',
      'defaults.memory      1g',
      '',
    ].join('\n'),
  );
  await sbx('config unset defaults.memory');
  expect(await sbx('config get defaults.memory')).toMatchObject({ exit: 3 });
  expect(await sbx('config unset defaults.constructor')).toMatchObject({ exit: 3 });
  expect(await sbx('config set backend nope')).toMatchObject({ exit: 3 });
  expect(await sbx('config path')).toMatchObject({ exit: 0, stdout: `${join(folder, 'config.json')}\n` });
});

test('secrets that stand in the file are not shown', async () => {
  const text = JSON.stringify({
    backends: { prod: { type: 'cloud', token: 's3cret' }, new: { type: 'later', pass: 's3cret' } },
  });
  writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
  for (const line of [
    'config ls',
    'config ls --json',
    'config get backends.prod.token',
    'config get backends.new.pass -o yaml',
    'backend ls --json',
  ]) {
    const { exit, stdout, stderr } = await sbx(line);
    expect(exit).toBe(0);
    expect(stdout + stderr).not.toContain('s3cret');
  }
});

test('a broken file is named and kept; path still works', async () => {
  writeFileSync(join(folder, 'config.json'), '{"backend": ');
  for (const line of ['backend ls', 'backend use local', 'config ls', 'config set defaults.memory 1g']) {
    expect(await sbx(line)).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining(join(folder, 'config.json')),
    });
  }
  expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('{"backend": ');
  expect(await sbx('config path')).toMatchObject({ exit: 0 });
});

test('use and rm let choose, rm only among those that can be removed and after a question', async () => {
  await added();
  const using = scripted('local');
  expect(await sbx('backend use', { prompter: using })).toMatchObject({ exit: 0 });
  expect(using.asked[0]?.choices).toEqual(['local: the local type', 'prod: the default, the cloud type']);
  expect(file()).toMatchObject({ backend: 'local' });
  const removing = scripted('prod', true);
  expect(await sbx('backend rm', { prompter: removing })).toMatchObject({ exit: 0 });
  expect(removing.asked.map(({ message }) => message)).toEqual([
    'Which backend?',
    "Remove backend 'prod' from the configuration?",
  ]);
  expect(removing.asked[0]?.choices).toHaveLength(1);
  expect(await sbx('backend rm', { prompter: scripted() })).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('there is no backend to choose'),
  });
});

test('use and rm without a name and a terminal are exit 2 with the command', async () => {
  await added();
  expect(await sbx('backend use')).toMatchObject({
    exit: 2,
    stderr: 'error: no backend is named\nhint: sbx backend use local; see them: sbx backend ls\n',
  });
  expect(await sbx('backend rm')).toMatchObject({
    exit: 2,
    stderr: 'error: no backend is named\nhint: sbx backend rm prod; see them: sbx backend ls\n',
  });
});
