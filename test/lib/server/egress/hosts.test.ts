/** Which hosts may be gone to, and which addresses are public. */
import { expect, test } from 'vitest';
import { allowedHosts } from '../../../../src/lib/server/egress/allowed-hosts.ts';
import { isPublic } from '../../../../src/lib/server/egress/target.ts';

test.each([
  ['pypi.org', 'pypi.org', 443, true],
  ['pypi.org', 'PyPI.org.', 80, true],
  ['pypi.org', 'pypi.org', 8443, false],
  ['pypi.org', 'pypi.org.evil.example', 443, false],
  ['pypi.org:8443', 'pypi.org', 8443, true],
  ['pypi.org:8443', 'pypi.org', 443, false],
  ['*.debian.org', 'deb.debian.org', 443, true],
  ['*.debian.org', 'debian.org', 443, false],
  ['*.debian.org', 'evildebian.org', 443, false],
  ['*:*', 'any.example', 22, true],
  ['*', '8.8.8.8', 443, true],
  ['10.1.0.0/16', '10.1.2.3', 443, true],
  ['10.1.0.0/16', '10.2.2.3', 443, false],
  ['10.1.0.0/16:5432', '10.1.2.3', 5432, true],
  ['[2001:db8::1]:443', '2001:db8::1', 443, true],
  ['2001:db8::/32', '2001:db8::7', 80, true],
  ['::/0', '10.0.0.1', 80, false],
])('%s and %s:%i: %s', (pattern, host, port, expected) => {
  expect(allowedHosts([pattern]).allows(host, port)).toBe(expected);
});

test('a pattern of names allows no private address', () => {
  const allow = allowedHosts(['*', 'intern.example', '10.0.0.1']);
  expect(['10.0.0.1', '10.0.0.2', '127.0.0.1'].map((each) => allow.allowsAddress(each, 443))).toEqual([
    true,
    false,
    false,
  ]);
});

test.each(['', 'http://x', 'a b', '10.0.0.0/40', '-x', 'x:y'])('%j is no host', (text) => {
  expect(() => allowedHosts([text])).toThrow('is no host');
});

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['127.0.0.1', false],
  ['10.0.0.1', false],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['100.64.0.1', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::', false],
  ['::ffff:127.0.0.1', false],
  ['64:ff9b::7f00:1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['2002:7f00:1::', false],
  ['not an address', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublic(address)).toBe(expected);
});
