import { expect, test } from 'vitest';
import { joinArgv, joinCgroups } from '../../../../src/lib/backends/local/join.ts';

const options = { pid: 77, keepsGroups: false, ownNetwork: true, ownCgroupNamespace: false, cgroups: [] };

test('capabilities go before the root changes, and only then does anything of the sandbox run', () => {
  const argv = joinArgv(options, ['/bin/sh', '-c', 'x']);
  const [enter, drop, root] = ['nsenter', 'setpriv', 'chroot'].map((word) => argv.indexOf(word));
  expect(enter).toBe(0);
  expect(drop).toBeGreaterThan(0);
  expect(root).toBeGreaterThan(drop ?? 0);
  expect(argv.slice(-4)).toEqual(['.', '/bin/sh', '-c', 'x']);
  expect(argv).toContain('--no-new-privs');
});

test('neither the root nor the working folder on the way in is of this machine', () => {
  const argv = joinArgv(options, ['true']);
  expect(argv).toContain('--root=/proc/77/root/.sbx-tools');
  expect(argv).toContain('--wd=/proc/77/root');
});

test('a user is set by number, after the root', () => {
  const argv = joinArgv({ ...options, identity: { uid: 5, gid: 6, groups: [7, 8] } }, ['true']);
  expect(argv.slice(argv.indexOf('chroot'))).toEqual([
    'chroot',
    '--userspec=+5:+6',
    '--groups=+7,+8',
    '.',
    'true',
  ]);
});

test('a single id keeps its groups, which the kernel does not let go', () => {
  expect(joinArgv({ ...options, keepsGroups: true }, ['true'])).toContain('--preserve-credentials');
});

test('cgroups are joined before anything else', () => {
  const argv = joinCgroups(['/a b', '/c'], ['nsenter', 'x']);
  expect(argv[0]).toBe('/bin/sh');
  expect(argv.slice(3)).toEqual(['sbx-join', '2', '/a b', '/c', 'nsenter', 'x']);
});
