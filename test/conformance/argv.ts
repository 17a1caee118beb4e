/** Arguments reach a command as they are, and its exit code comes back. */
import { expect, test } from 'vitest';
import { type Harness, run, sh } from './harness.ts';

const ODD = [
  '',
  ' ',
  'two words',
  'a\nb',
  "it's",
  '"quoted"',
  '$HOME',
  '`id`',
  '$(id)',
  '*',
  '\\',
  '\\n',
  '--',
  '-',
  '-la',
  '--json',
  '--help',
  'K=V',
  '~',
  '!x',
  '#x',
  ';',
  '&',
  '|',
  '\t',
  '\x01\x1b[31m\x7f',
  'ünïcødé \u{1f600}',
  'x'.repeat(100_000),
];

export function argvConformance(h: Harness): void {
  test('odd arguments arrive as they are', async () => {
    const { stdout } = await sh(await h.shared(), 'for a; do printf "%s\\0" "$a"; done', { args: ODD });
    expect(stdout.toString().split('\0').slice(0, -1)).toEqual(ODD);
  });

  test('no shell stands between: a command line is no command', async () => {
    const { exit } = await run(await h.shared(), ['echo hello']);
    expect(exit).toEqual({ code: 127 });
  });

  test.each([0, 1, 2, 124, 125, 126, 127, 128, 130, 137, 254, 255])(
    'exit code %i comes back',
    async (code) => {
      const { exit } = await sh(await h.shared(), 'exit "$1"', { args: [String(code)] });
      expect(exit).toEqual({ code });
    },
  );

  test.each([['no-such-command-anywhere'], ['/no/such/file'], ['./missing'], ['-la'], ['--json']])(
    'a command that is not there exits 127: %s',
    async (name) => {
      const { exit, stderr, stdout } = await run(await h.shared(), [name, 'x']);
      expect([exit, stdout.length]).toEqual([{ code: 127 }, 0]);
      expect(stderr).not.toBe('');
    },
  );

  test('a file that cannot be executed exits 126', async () => {
    const sandbox = await h.shared();
    await sh(sandbox, 'echo echo hello > not-executable; chmod 644 not-executable');
    const { exit, stderr } = await run(sandbox, ['./not-executable']);
    expect(exit).toEqual({ code: 126 });
    expect(stderr).toContain('not-executable');
  });

  test('a directory exits 126', async () => {
    const { exit, stderr } = await run(await h.shared(), ['/tmp']);
    expect(exit).toEqual({ code: 126 });
    expect(stderr).not.toBe('');
  });

  test('a script without a first line for an interpreter runs', async () => {
    const sandbox = await h.shared();
    await sh(sandbox, "printf 'echo from script $1\\n' > script; chmod 755 script");
    expect((await run(sandbox, ['./script', 'x'])).stdout.toString()).toBe('from script x\n');
  });

  test.each(['no-such-directory', '/no/such/directory'])(
    'a workdir that is missing exits 126: %s',
    async (workdir) => {
      const { exit, stderr, stdout } = await run(await h.shared(), ['echo', 'ran'], { workdir });
      expect([exit, stdout.toString()]).toEqual([{ code: 126 }, '']);
      expect(stderr).toContain('no-such-directory'.slice(0, 2));
      expect(stderr.toLowerCase()).toMatch(/no such|not found|does not exist|cannot/);
    },
  );

  test('a workdir that is a file exits 126', async () => {
    const { exit, stderr } = await run(await h.shared(), ['echo', 'ran'], { workdir: '/etc/passwd' });
    expect(exit).toEqual({ code: 126 });
    expect(stderr).not.toBe('');
  });
}
