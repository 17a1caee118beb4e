import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import EnvLs from '../../src/commands/env/ls.ts';
import EnvSet from '../../src/commands/env/set.ts';
import EnvUnset from '../../src/commands/env/unset.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
let sbx: CommandLine;

beforeEach(async () => {
  sbx = commandLine({ commands: { 'env:ls': EnvLs, 'env:set': EnvSet, 'env:unset': EnvUnset } });
  await sbx.memory.create({ name: 'box', env: { MODE: 'dev' }, labels: {}, limits: {} }, call);
});
afterEach(async () => {
  await sbx[Symbol.asyncDispose]();
});

const variables = async () => JSON.parse((await sbx.run(['env', 'ls', 'box', '--json'])).stdout) as unknown;

describe('env', () => {
  it('sets from words, from the own environment and from files, and the words win', async () => {
    writeFileSync(join(sbx.folder, 'vars'), '# mine\nA=file\nB="as it is" # too\nOWN\n');
    const result = await sbx.run(['env', 'set', 'box', 'A=x=y', 'TOKEN', 'EMPTY=', '--env-file', 'vars'], {
      env: { TOKEN: 's3cret', OWN: 'mine' },
    });
    expect(result).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(await variables()).toEqual({
      MODE: 'dev',
      A: 'x=y',
      TOKEN: 's3cret',
      EMPTY: '',
      B: '"as it is" # too',
      OWN: 'mine',
    });
  });

  it('takes the obvious sandbox before K=V', async () => {
    expect((await sbx.run(['env', 'set', 'A=1', 'B=2'])).exit).toBe(0);
    expect(await variables()).toEqual({ MODE: 'dev', A: '1', B: '2' });
  });

  it('lists names and values, and names alone', async () => {
    await sbx.run(['env', 'set', 'box', 'A=two words\u001b[31m']);
    expect((await sbx.run(['env', 'ls', 'box'])).stdout).toBe(
      'NAME  VALUE\nA     two words\\e[31m\nMODE  dev\n',
    );
    expect((await sbx.run(['env', 'ls', 'box', '-q'])).stdout).toBe('A\nMODE\n');
  });

  it('unsets all or nothing', async () => {
    expect(await sbx.run(['env', 'unset', 'box', 'MODE', 'NOPE'])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('NOPE'),
    });
    expect(await variables()).toEqual({ MODE: 'dev' });
    expect((await sbx.run(['env', 'unset', 'box', 'MODE', 'NOPE', '--ignore-missing', '--json'])).exit).toBe(
      0,
    );
    expect(await variables()).toEqual({});
  });

  it.each([
    [['set', 'box']],
    [['set', 'box', '1A=s3cret']],
    [['set', 'box', 'NOT_MINE']],
    [['set', 'box', '--env-file', 'no-such-file']],
    [['unset', 'box']],
    [['unset', 'box', 'A=s3cret']],
  ])('refuses %j without a word of a value', async (words) => {
    const result = await sbx.run(['env', ...words]);
    expect(result.exit).toBe(2);
    if (words[0] === 'set') expect(result.stderr).not.toContain('s3cret');
    expect(await variables()).toEqual({ MODE: 'dev' });
  });
});
