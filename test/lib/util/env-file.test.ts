import { describe, expect, it } from 'vitest';
import { SbxError } from '../../../src/lib/errors.ts';
import { parseEnvAssignments, parseEnvFile, resolveEnvFile } from '../../../src/lib/util/env-file.ts';

const nothing = () => undefined;

describe('parseEnvFile', () => {
  it('takes values to the end of the line, quotes, # and = included', () => {
    const text = 'A=1\nB="two words" # kept\nC=x=y=z\nD=\n';
    expect({ ...parseEnvFile(text) }).toEqual({ A: '1', B: '"two words" # kept', C: 'x=y=z', D: '' });
  });

  it('skips comments and blank lines, takes CRLF, a byte order mark and a missing last newline', () => {
    expect({ ...parseEnvFile('\uFEFF# hello\r\n\r\n  # indented\r\n  A=1\r\n\t\nB=2') }).toEqual({
      A: '1',
      B: '2',
    });
  });

  it('keeps a name without value as undefined', () => {
    const parsed = parseEnvFile('TOKEN\nA=1');
    expect(Object.keys(parsed)).toEqual(['TOKEN', 'A']);
    expect(parsed.TOKEN).toBeUndefined();
  });

  it('names the line of a bad name and never repeats its text', () => {
    const attempt = () => parseEnvFile('A=1\n\ns3cret-value=oops');
    expect(attempt).toThrow(/line 3/);
    expect(attempt).not.toThrow(/s3cret|oops/);
    expect(attempt).toThrow(SbxError);
  });

  it('takes names such as __proto__ for what they are', () => {
    expect(Object.keys(parseEnvFile('__proto__=x'))).toEqual(['__proto__']);
    expect(Object.keys(resolveEnvFile('__proto__=x', nothing))).toEqual(['__proto__']);
  });
});

describe('parseEnvAssignments', () => {
  it('looks up names without value, leaves out what is not there, and lets the last one win', () => {
    const lookup = (name: string) => ({ HOME: '/me' })[name];
    expect(parseEnvAssignments(['A=1', 'HOME', 'MISSING', 'A=2'], lookup)).toEqual({ A: '2', HOME: '/me' });
  });

  it('keeps newlines and unicode in values', () => {
    expect(parseEnvAssignments(['A=one\ntwo ✓'], nothing)).toEqual({ A: 'one\ntwo ✓' });
  });

  it.each(['', '=x', '1A=x', 'A-B=x', 'A B=x', 'A\n=x\n=y'.replace('A\n', ' \n')])('refuses %j', (item) => {
    expect(() => parseEnvAssignments([item], nothing)).toThrow(SbxError);
  });

  it('refuses NUL bytes and values longer than Linux allows, naming the variable only', () => {
    expect(() => parseEnvAssignments(['A=x\0y'], nothing)).toThrow(/value of A holds a NUL/);
    expect(() => parseEnvAssignments([`A=${'x'.repeat(200_000)}`], nothing)).toThrow(
      /value of A is longer than/,
    );
  });

  it('resolves a file the same way', () => {
    expect(resolveEnvFile('A=1\nHOME\nNOPE\n', (name) => (name === 'HOME' ? '/me' : undefined))).toEqual({
      A: '1',
      HOME: '/me',
    });
  });
});
