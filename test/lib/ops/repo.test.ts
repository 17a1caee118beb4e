import { describe, expect, it } from 'vitest';
import { SbxError } from '../../../src/lib/errors.ts';
import { parseRepo } from '../../../src/lib/ops/repo.ts';

const remote = { kind: 'remote', ref: undefined, username: '', password: '' };

describe('parseRepo', () => {
  it.each([
    ['https://github.com/a/b.git', { ...remote, url: 'https://github.com/a/b.git' }],
    ['https://github.com/a/b#feature/x', { ...remote, url: 'https://github.com/a/b', ref: 'feature/x' }],
    ['https://tok3n@github.com/a/b', { ...remote, url: 'https://github.com/a/b', username: 'tok3n' }],
    [
      'https://me:p%40ss@host:8443/a@b',
      { ...remote, url: 'https://host:8443/a@b', username: 'me', password: 'p@ss' },
    ],
    ['HTTPS://me:x@y@host/a', { ...remote, url: 'HTTPS://host/a', username: 'me', password: 'x@y' }],
    ['ssh://git@host:22/a.git', { ...remote, url: 'ssh://git@host:22/a.git' }],
    ['ssh://git:pw@host/a.git', { ...remote, url: 'ssh://git@host/a.git' }],
    ['git@github.com:a/b.git#v1.2', { ...remote, url: 'git@github.com:a/b.git', ref: 'v1.2' }],
    ['git://host/a', { ...remote, url: 'git://host/a' }],
    ['.', { kind: 'local', url: '.', path: '/home/me', ref: undefined }],
    ['../x#main', { kind: 'local', url: '../x', path: '/home/x', ref: 'main' }],
    ['/srv/C#/repo#v1', { kind: 'local', url: '/srv/C#/repo', path: '/srv/C#/repo', ref: 'v1' }],
    [
      'file:///srv/a%20b.git',
      { kind: 'local', url: 'file:///srv/a%20b.git', path: '/srv/a b.git', ref: undefined },
    ],
    ['./odd:name', { kind: 'local', url: './odd:name', path: '/home/me/odd:name', ref: undefined }],
  ])('%s', (text, expected) => expect(parseRepo(text, '/home/me')).toEqual(expected));

  it.each([
    '',
    '#main',
    'https://h/x#',
    'https://h/x#-f',
    'https://h/x#a b',
    'https://h/x#a..b',
    'https://h/x#a^',
    '-x',
    '--upload-pack=x',
    'ftp://h/x',
    'ext://h/x',
    'a\nb',
    'file://elsewhere/x',
    'https://%zz@h/x',
    'https://a%0ab@h/x',
  ])('refuses %j', (text) => {
    expect(() => parseRepo(text, '/home/me')).toThrow(SbxError);
  });

  it('never repeats a secret in an error', () => {
    expect(() => parseRepo('https://me:s3cret%zz@h/x', '/')).toThrow(/percent-encoded/);
    expect(() => parseRepo('https://me:s3cret%zz@h/x', '/')).not.toThrow(/s3cret/);
  });
});
