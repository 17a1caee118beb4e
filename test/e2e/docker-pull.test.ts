/** Images that the engine does not have, from a real registry. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { bin, type EngineClient, engineClient } from '../support/engines/client.ts';
import { dockerAt } from '../support/engines/engine.ts';
import { startGoBetween } from '../support/engines/go-between.ts';
import { type Registry, registryNeeds, startRegistry } from '../support/engines/registry.ts';
import { startStaller } from '../support/engines/registry-staller.ts';
import { engineHost, noEngine } from '../support/engines/shared.ts';
import { asRoot } from '../support/require.ts';
import { openTerminal } from '../support/terminal.ts';

const needs = noEngine ?? registryNeeds;
const pulling = asRoot(needs === undefined, needs ?? '');

/** By bcrypt, which is what registries take. */
const LOGIN = 'me:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW';
const SECRET = 'open sesame';

let folder: string;
let open: Registry;
/** It has the same images for those that log in. */
let closed: Registry;
let client: EngineClient;
let docker: (...args: readonly string[]) => string;
/** The image's name with its digest. */
let digest: string;

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-pull-'));
  open = await startRegistry({ folder });
  closed = await startRegistry({ folder, logins: LOGIN });
  client = engineClient(folder, engineHost ?? '');
  docker = dockerAt(engineHost ?? '');
  digest = publish(`${open.host}/x`);
  mkdirSync(join(folder, '.docker'));
});
afterEach(() => {
  if (needs !== undefined) return;
  client.run('rm', '--force', '--yes', 'pulled');
  for (const image of images()) docker('rmi', image);
  rmSync(join(folder, '.docker/config.json'), { force: true });
});
afterAll(async () => {
  if (needs !== undefined) return;
  await closed[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** Makes an image with a layer that the engine has nowhere else, and leaves it to the registry. @returns its name with its digest */
function publish(name: string): string {
  const random = 'head -c 400000 /dev/urandom >/random';
  docker('run', '--name', 'sbx-maker', '--network', 'none', 'sbx-test/busybox', 'sh', '-c', random);
  docker('commit', 'sbx-maker', name);
  docker('rm', 'sbx-maker');
  docker('push', '--quiet', name);
  const [pushed = ''] = docker('image', 'inspect', '--format', '{{join .RepoDigests " "}}', name).split(' ');
  docker('rmi', name);
  return pushed;
}

/** What the engine has of registries. */
const images = () =>
  docker('images', '--digests', '--format', '{{.Repository}} {{.Tag}} {{.Digest}}')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([name]) => name?.startsWith('127.0.0.1:'))
    .map(([name, tag, digest]) => (tag === '<none>' ? `${name}@${digest}` : `${name}:${tag}`));
const create = (image: string, ...more: readonly string[]) =>
  client.run('create', 'pulled', '--image', image, '--network', 'none', ...more);

describe('an image is pulled', () => {
  pulling('by its name alone', () => {
    const made = create(`${open.host}/x`);
    expect(made, made.stderr).toMatchObject({ code: 0, stdout: 'pulled\n' });
    expect(client.must('exec', 'pulled', '--', 'echo', 'runs')).toBe('runs\n');
    expect(images()).toEqual([`${open.host}/x:latest`]);
  });

  pulling('by its digest, once', () => {
    const made = create(digest);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(images()).toEqual([digest]);
    client.must('rm', '--force', '--yes', 'pulled');
    expect(create(digest)).toMatchObject({ code: 0 });
  });
});

describe('an image that cannot be had', () => {
  const expectRefusal = (image: string, code: number, what: RegExp, hint: RegExp) => {
    const made = create(image);
    expect(made, made.stderr).toMatchObject({ code, stdout: '' });
    expect(made.stderr).toContain(`cannot pull image '${image}', which the engine does not have: `);
    expect(made.stderr).toMatch(what);
    expect(made.stderr).toMatch(hint);
    expect(images()).toEqual([]);
  };

  pulling('because its tag is missing', () =>
    expectRefusal(`${open.host}/x:nope`, 3, /manifest unknown/, /^hint: check its name and tag/m),
  );
  pulling('because the registry has none of its name', () =>
    expectRefusal(`${open.host}/nope`, 3, /manifest unknown/, /^hint: check its name and tag/m),
  );
  pulling('because there is no registry at that port', () =>
    expectRefusal('127.0.0.1:1/x', 1, /connection refused/, /^hint: can the engine reach 127\.0\.0\.1:1\?/m),
  );
  pulling('because there is no such host', () =>
    expectRefusal(
      'registry.invalid/x',
      1,
      /registry\.invalid/,
      /^hint: can the engine reach registry\.invalid\?/m,
    ),
  );
  pulling('because nobody has logged in', () =>
    expectRefusal(
      `${closed.host}/x`,
      4,
      /credentials/,
      new RegExp(`^hint: log in: docker login ${closed.host}$`, 'm'),
    ),
  );
});

describe('who we are to the registry is taken from', () => {
  const config = (value: object) => writeFileSync(join(folder, '.docker/config.json'), JSON.stringify(value));
  const auth = (secret: string) => Buffer.from(`me:${secret}`).toString('base64');
  const helped = (answer: string) => {
    const programs = join(folder, 'bin');
    mkdirSync(programs, { recursive: true });
    const lines = [
      '#!/bin/sh',
      'read -r host',
      `[ "$1 $host" = 'get ${closed.host}' ] || exit 1`,
      `echo '${answer}'`,
    ];
    writeFileSync(join(programs, 'docker-credential-test'), `${lines.join('\n')}\n`, { mode: 0o755 });
    return client.with({ PATH: `${programs}:${process.env.PATH}` });
  };
  const words = () => ['create', 'pulled', '--image', `${closed.host}/x`, '--network', 'none'];

  pulling('the auths of docker login', () => {
    config({ auths: { [closed.host]: { auth: auth(SECRET) } } });
    const made = client.run(...words());
    expect(made, made.stderr).toMatchObject({ code: 0 });
  });

  pulling('a program for this registry', () => {
    config({ credHelpers: { [closed.host]: 'test' } });
    const made = helped(JSON.stringify({ Username: 'me', Secret: SECRET })).run(...words());
    expect(made, made.stderr).toMatchObject({ code: 0 });
  });

  pulling('a program for all registries', () => {
    config({ auths: { [closed.host]: {} }, credsStore: 'test' });
    const made = helped(JSON.stringify({ Username: 'me', Secret: SECRET })).run(...words());
    expect(made, made.stderr).toMatchObject({ code: 0 });
  });

  pulling('there in vain when it is wrong, and is told to nobody', () => {
    config({ auths: { [closed.host]: { auth: auth('wrong word') } } });
    for (const more of [[], ['--json'], ['--debug']]) {
      const made = client.run(...words(), ...more);
      expect(made).toMatchObject({ code: 4, stderr: expect.stringMatching(/unauthorized/) });
      expect(made.stderr).toContain(`log in again: docker login ${closed.host}`);
      expect(made.stderr).not.toMatch(new RegExp(`wrong word|${auth('wrong word')}`));
    }
  });

  pulling('nowhere when a program gives none, which is told without its words', () => {
    config({ credHelpers: { [closed.host]: 'test' } });
    const broken = helped(`${SECRET} is no JSON`).run(...words());
    expect(broken).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^docker-credential-test gives no login/m),
    });
    expect(broken.stderr).not.toContain(SECRET);
    const missing = client.run(...words());
    expect(missing).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^docker-credential-test cannot be run/m),
    });
  });

  pulling('no file that is broken, which is told without its words', () => {
    writeFileSync(join(folder, '.docker/config.json'), `{"auths": {"${closed.host}": {"auth": ${SECRET}`);
    const made = client.with({ DOCKER_CONTEXT: 'default' }).run(...words());
    expect(made).toMatchObject({ code: 1, stderr: expect.stringMatching(/config\.json/) });
    expect(made.stderr).not.toContain(SECRET);
  });
});

describe('while it is pulled', () => {
  pulling('a terminal shows how far it is, and Ctrl-C leaves nothing', async () => {
    await using slow = await startStaller(open.host);
    const words = ['create', 'pulled', '--image', `${slow.host}/x`, '--network', 'none'];
    await using terminal = openTerminal([process.execPath, bin, ...words], { env: client.env, cols: 100 });
    await slow.stalled;
    await terminal.waitFor(new RegExp(`pulling ${slow.host}/x: \\d+ % of \\d+ MB$`, 'm'));
    terminal.type('\u0003');
    expect(await terminal.ended).toMatchObject({ exitCode: 130 });
    expect(terminal.screen().filter((row) => row !== '')).toEqual([]);
    // The engine goes on reading, and keeps nothing of it.
    await slow.goOn();
    expect(images()).toEqual([]);
    expect(client.must('ls', '--all', '-q', '--backend', 'engine').split('\n')).not.toContain('pulled');
  });

  pulling('a log gets a line', async () => {
    await using slow = await startStaller(open.host);
    const logged = client.through('sh', '-c', 'exec "$@" 2>&1', 'sh');
    const made = logged.start('create', 'pulled', '--image', `${slow.host}/x`, '--network', 'none');
    await made.prints('pulling');
    await slow.goOn();
    const { code, stdout } = await made.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(new RegExp(`^pulling ${slow.host}/x\ncreated 'pulled' in .*\npulled\n$`));
  });

  pulling('an engine that ends says so', async () => {
    await using slow = await startStaller(open.host);
    await using between = await startGoBetween(engineHost ?? '', join(folder, 'cut'));
    const made = client
      .at(between.host)
      .start('create', 'pulled', '--image', `${slow.host}/x`, '--network', 'none');
    await slow.stalled;
    between.cut();
    expect(await made.ended).toMatchObject({
      code: 6,
      stderr: expect.stringMatching(/the connection broke/),
    });
  });
});
