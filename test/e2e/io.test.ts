/** The built bin where its streams, its environment or its terminal are not what a program hopes for. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'sbx-io-'));
const env = { PATH: process.env.PATH, HOME: home, SBX_STATE_DIR: join(home, 'state') };

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs shell text in which `sbx` is the built bin; nothing but `more` is in its environment besides the state folder. */
async function sh(
  script: string,
  more: Readonly<Record<string, string | undefined>> = {},
): Promise<Finished> {
  const prelude = 'set -o pipefail; node=$0 bin=$1; sbx() { "$node" "$bin" "$@"; }\n';
  const child = spawn('bash', ['-c', prelude + script, process.execPath, bin], {
    env: { ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

beforeAll(async () => {
  expect(await sh('sbx create box && sbx create other')).toMatchObject({ code: 0, stdout: 'box\nother\n' });
});
afterAll(async () => {
  expect(await sh('sbx rm --all --force --quiet')).toMatchObject({ code: 0 });
  rmSync(home, { recursive: true, force: true });
});

describe('closed streams', () => {
  test.each(['ls', 'info box', 'help', 'version --json', 'exec box echo hi', 'ps box'])(
    '%s works with stdout, stderr, stdin or all closed',
    async (verb) => {
      const tries = ['>&-', '2>&-', '<&-', '>&- 2>&-', '<&- >&- 2>&-'].map(
        (closed) => `sbx ${verb} ${closed}; printf '%s ' $? >&3`,
      );
      const { stdout, stderr } = await sh(`exec 3>&1 >/dev/null\n${tries.join('\n')}`);
      expect(stderr).toBe('');
      expect(stdout.trim().split(' ')).toEqual(['0', '0', '0', '0', '0']);
    },
  );

  test('a failure has its exit code where nobody can be told', async () => {
    expect((await sh('sbx info nope 2>&-')).code).toBe(3);
    expect((await sh('sbx info nope >&- 2>&-')).code).toBe(3);
    expect((await sh('sbx exec nope true >&- 2>&-')).code).toBe(125);
    expect((await sh('sbx nope >&- 2>&-')).code).toBe(2);
    expect((await sh('sbx exec box sh -c "exit 9" >&- 2>&-')).code).toBe(9);
  });

  test('a file that is opened later does not get what was meant for a closed stream', async () => {
    expect(await sh('sbx create third >&- 2>&-; sbx info third -q')).toMatchObject({
      code: 0,
      stdout: 'third\n',
    });
    expect((await sh('sbx rm -f third >&- 2>&-; sbx info third')).code).toBe(3);
  });

  test.each([
    'ls',
    'ls --json',
    'help',
    'create --help',
    'exec box seq 1 1000000',
    'files cat box /etc/services',
    'files cat box /usr/bin/perl',
    'cp box:/usr/bin/perl -',
  ])('%s into a reader that goes away ends quietly', async (verb) => {
    const { code, stdout, stderr } = await sh(`sbx ${verb} | head -1`);
    expect(stderr).toBe('');
    expect(stdout.split('\n')).toHaveLength(2);
    // exec passes on that its command died of SIGPIPE.
    expect(verb.startsWith('exec') ? [0, 141] : [0]).toContain(code);
  });

  test('a full disk is said', async () => {
    expect(await sh('sbx ls >/dev/full')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOSPC'),
    });
  });
});

describe('environment', () => {
  test.each([
    ['no TERM', { TERM: undefined }],
    ['a dumb terminal', { TERM: 'dumb' }],
    ['the C locale', { LC_ALL: 'C' }],
    ['a locale that is not there', { LC_ALL: 'xx_YY.UTF-8', LANG: 'nope' }],
    ['20 columns', { COLUMNS: '20' }],
    ['columns that are no number', { COLUMNS: 'wide' }],
    ['no columns', { COLUMNS: '0' }],
    ['no HOME', { HOME: undefined }],
    ['an empty HOME', { HOME: '' }],
    ['an empty TMPDIR', { TMPDIR: '' }],
    ['a wrong time zone', { TZ: 'Nowhere/Land' }],
  ])('with %s everything works', async (_name, more) => {
    const { code, stdout, stderr } = await sh('sbx ls && sbx exec box echo hi && sbx help', more);
    // What the shell around says of such a locale is not ours.
    expect({ code, stderr: stderr.replace(/^bash: warning: .*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('NAME');
    expect(stdout).toContain('\nhi\n');
    expect(stdout).toContain('Usage:');
  });

  test('nothing in the environment at all', async () => {
    const { code, stdout, stderr } = await sh('exec env -i "$node" "$bin" version --json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ node: expect.any(String) });
    const list = await sh('exec env -i "$node" "$bin" ls --all');
    expect(list.stderr).not.toContain('a bug in sbx');
  });

  test('bytes are not changed by the locale', async () => {
    const { stdout } = await sh("sbx exec box printf 'gr\\303\\274n'", { LC_ALL: 'C' });
    expect(stdout).toBe('grün');
  });

  test('a table is cut to fit, but not its names, and a pipe gets it whole', async () => {
    const { stdout } = await sh('sbx ls', { COLUMNS: '40' });
    for (const line of stdout.trimEnd().split('\n')) expect(line.length).toBeLessThanOrEqual(40);
    expect((await sh('sbx ls', { COLUMNS: '20' })).stdout).toMatch(/^other /m);
    expect((await sh('sbx ls | cat')).stdout).toMatch(/^box .*local.*running/m);
  });

  test('colour is off in pipes, on with FORCE_COLOR, and off again with NO_COLOR', async () => {
    const start = '\u001b[';
    expect((await sh('sbx ls')).stdout).not.toContain(start);
    expect((await sh('sbx ls', { FORCE_COLOR: '1' })).stdout).toContain(start);
    expect((await sh('sbx help', { FORCE_COLOR: '1' })).stdout).toContain(start);
    expect((await sh('sbx ls', { FORCE_COLOR: '0' })).stdout).not.toContain(start);
    expect((await sh('sbx ls', { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout).not.toContain(start);
    expect((await sh('sbx ls --color', { NO_COLOR: '1' })).stdout).toContain(start);
    expect((await sh('sbx ls --json', { FORCE_COLOR: '1' })).stdout).not.toContain(start);
  });

  test('flags come from SBX_ variables, and the command line wins', async () => {
    expect((await sh('sbx ls', { SBX_JSON: '1' })).stdout).toMatch(/^\[/);
    expect((await sh('sbx ls', { SBX_OUTPUT: 'name' })).stdout).toBe('other\nbox\n');
    expect((await sh('sbx ls -o json', { SBX_OUTPUT: 'name' })).stdout).toMatch(/^\[/);
    expect((await sh('sbx exec -- sh -c "pwd"', { SBX_SANDBOX: 'box', SBX_WORKDIR: '/tmp' })).stdout).toBe(
      '/tmp\n',
    );
    expect((await sh('sbx exec box sleep 60', { SBX_TIMEOUT: '100ms' })).code).toBe(124);
    expect(await sh('sbx ls', { SBX_JSON: 'perhaps' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SBX_JSON'),
    });
    expect(await sh('sbx ls', { SBX_OUTPUT: 'xml' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SBX_OUTPUT'),
    });
  });
});

describe('help and mistakes', () => {
  test.each(['exec', 'create', 'files cat', 'forward ls', 'rm'])(
    'sbx help %s is sbx %s --help and -h',
    async (verb) => {
      const [help, long, short] = await Promise.all([
        sh(`sbx help ${verb}`),
        sh(`sbx ${verb} --help`),
        sh(`sbx ${verb} -h`),
      ]);
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(long).toEqual(help);
      expect(short).toEqual(help);
    },
  );

  test('-h behind the first word of an inner command is that command’s', async () => {
    expect((await sh('sbx exec box echo -h --help')).stdout).toBe('-h --help\n');
    expect((await sh('sbx exec box -- echo -h')).stdout).toBe('-h\n');
    expect((await sh('sbx run echo -h')).stdout).toBe('-h\n');
    expect((await sh('sbx exec -h box echo')).stdout).toContain('Usage:');
  });

  test('words that are close to a verb or a flag are offered', async () => {
    expect(await sh('sbx crate')).toMatchObject({ code: 2, stderr: expect.stringContaining('sbx create') });
    expect(await sh('sbx ls --jsn')).toMatchObject({ code: 2, stderr: expect.stringContaining('--json') });
    expect(await sh('sbx snapshot lst')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sbx snapshot ls'),
    });
  });
});
