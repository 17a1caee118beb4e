import { describe, expect, test } from 'vitest';
import { storePaths } from '../../../src/lib/store/paths.ts';

const nobody = () => {
  throw Object.assign(new Error('no entry'), { code: 'ERR_SYSTEM_ERROR' });
};
const all = (env: Record<string, string>) => ({ ...storePaths(env, () => ({ homedir: '/home/pat' })) });

test('after the XDG rules', () => {
  expect(all({ HOME: '/home/me/' })).toEqual({
    config: '/home/me/.config/sbx',
    state: '/home/me/.local/state/sbx',
    cache: '/home/me/.cache/sbx',
    runtime: '/home/me/.local/state/sbx/run',
  });
  expect(
    all({
      XDG_CONFIG_HOME: '/c/',
      XDG_STATE_HOME: '/s',
      XDG_CACHE_HOME: '/k',
      XDG_RUNTIME_DIR: '/run/user/7',
    }),
  ).toEqual({ config: '/c/sbx', state: '/s/sbx', cache: '/k/sbx', runtime: '/run/user/7/sbx' });
});

test('relative and empty values of the XDG variables are ignored', () => {
  const env = { HOME: '/h', XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '', XDG_RUNTIME_DIR: './r' };
  expect(all(env)).toMatchObject({
    config: '/h/.config/sbx',
    state: '/h/.local/state/sbx',
    runtime: '/h/.local/state/sbx/run',
  });
});

test('SBX_CONFIG_DIR and SBX_STATE_DIR win, and take the sockets along', () => {
  const env = {
    SBX_CONFIG_DIR: '/my/config/',
    SBX_STATE_DIR: '/my/state',
    XDG_CONFIG_HOME: '/c',
    XDG_RUNTIME_DIR: '/r',
    HOME: '/h',
  };
  expect(all(env)).toMatchObject({ config: '/my/config', state: '/my/state', runtime: '/my/state/run' });
  expect(() => storePaths({ SBX_STATE_DIR: 'here' }).state).toThrow('SBX_STATE_DIR must be an absolute path');
});

describe('without HOME', () => {
  test('the password entry counts', () => {
    expect(all({}).config).toBe('/home/pat/.config/sbx');
    expect(all({ HOME: 'relative' }).state).toBe('/home/pat/.local/state/sbx');
  });

  test('and without an entry the error names the variable to set, but only for what needs it', () => {
    const paths = storePaths({ XDG_STATE_HOME: '/s' }, nobody);
    expect(paths.state).toBe('/s/sbx');
    expect(() => paths.config).toThrow(
      expect.objectContaining({ code: 'failed', hint: expect.stringContaining('export SBX_CONFIG_DIR=') }),
    );
    expect(() => storePaths({}, () => ({ homedir: null })).state).toThrow('there is no home directory');
  });
});
