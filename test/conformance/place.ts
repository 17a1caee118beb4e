/** What surrounds a command: environment, working directory, user. */
import { expect, test } from 'vitest';
import { call, type Harness, say, sh } from './harness.ts';

const VALUES = {
  PLAIN: 'x',
  EMPTY: '',
  SPACE: 'a b',
  LINES: 'a\nb\n',
  QUOTES: `'"\`$HOME\\`,
  LONG: 'y'.repeat(50_000),
};

export function placeConformance(h: Harness): void {
  test('the sandbox’s environment reaches every command, whatever the values', async () => {
    const sandbox = await h.sandbox({ env: VALUES });
    for (const [name, value] of Object.entries(VALUES)) {
      const { stdout } = await sh(sandbox, `printf %s "$${name}"`);
      expect(stdout.toString()).toBe(value);
    }
  });

  test('a command’s own environment comes on top', async () => {
    const sandbox = await h.sandbox({ env: { A: 'sandbox', B: 'sandbox' } });
    expect(await say(sandbox, 'echo "$A $B $C"', { env: { B: 'command', C: 'new' } })).toBe(
      'sandbox command new',
    );
    expect(await say(sandbox, 'echo "$A $B $C"')).toBe('sandbox sandbox ');
  });

  test('PATH and HOME are set, and HOME is a directory', async () => {
    expect(await say(await h.shared(), 'test -n "$PATH" && cd "$HOME" && echo good')).toBe('good');
  });

  test('nothing of the environment of sbx leaks in', async () => {
    process.env.SBX_CONFORMANCE_SECRET = 'leaked';
    try {
      expect(await say(await h.shared(), 'env')).not.toContain('leaked');
    } finally {
      delete process.env.SBX_CONFORMANCE_SECRET;
    }
  });

  h.when(!h.lacks?.includes('new workdir'))(
    'the workdir of the sandbox is where commands start',
    async () => {
      const sandbox = await h.sandbox({ workdir: '/made/for-this' });
      expect(await say(sandbox, 'pwd')).toMatch(/\/made\/for-this$/);
      expect((await sandbox.info(call)).workdir).toBe('/made/for-this');
      expect(await say(sandbox, 'mkdir sub && echo x > sub/file && echo done')).toBe('done');
      expect(await say(sandbox, 'cat file', { workdir: 'sub' })).toBe('x');
    },
  );

  test('a command’s own workdir is absolute or relative to that', async () => {
    const sandbox = await h.shared();
    expect(await say(sandbox, 'pwd -P', { workdir: '/usr' })).toBe('/usr');
    await say(sandbox, 'mkdir -p "deep/with space"');
    expect(await say(sandbox, 'pwd', { workdir: 'deep/with space' })).toMatch(/\/deep\/with space$/);
  });

  h.when(h.otherUser !== undefined)('a command runs as another user', async () => {
    const { user = '', uid } = h.otherUser ?? {};
    const sandbox = await h.shared();
    expect(await say(sandbox, 'id -u', { user, workdir: '/' })).toBe(String(uid));
    expect(await say(sandbox, 'id -u', { user: String(uid), workdir: '/' })).toBe(String(uid));
    expect(await say(sandbox, 'id -u; id -g', { user: `${uid}:12`, workdir: '/' })).toBe(`${uid}\n12`);
  });
}
