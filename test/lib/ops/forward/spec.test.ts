import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SbxError } from '../../../../src/lib/errors.ts';
import { looksLikeSpec, planForward } from '../../../../src/lib/ops/forward/plan.ts';
import {
  parseForwardSpec,
  parseForwardSpecs,
  parsePort,
  parseUnixSpec,
} from '../../../../src/lib/ops/forward/spec.ts';

const parse = (text: string, reverse = false) =>
  parseForwardSpec(text, { reverse }).map(
    ({ address, local, remote, explicit }) => `${address ?? ''}|${local}>${remote}${explicit ? '!' : ''}`,
  );

function usage(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof SbxError && error.code === 'usage') return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a spec', () => {
  it.each([
    ['3000', ['|3000>3000']],
    ['8080:3000', ['|8080>3000!']],
    [':3000', ['|0>3000']],
    ['0:3000', ['|0>3000']],
    ['0.0.0.0:8080:3000', ['0.0.0.0|8080>3000!']],
    ['127.0.0.2::3000', ['127.0.0.2|0>3000']],
    ['localhost:8080:3000', ['127.0.0.1|8080>3000!']],
    ['[::1]:8080:3000', ['::1|8080>3000!']],
    ['[::1]::3000', ['::1|0>3000']],
    ['80,443', ['|80>80', '|443>443']],
    ['8080:80,8443:443', ['|8080>80!', '|8443>443!']],
    ['8000-8002', ['|8000>8000', '|8001>8001', '|8002>8002']],
    ['8000-8001:9000-9001', ['|8000>9000!', '|8001>9001!']],
    [':9000-9001', ['|0>9000', '|0>9001']],
    ['80,8000-8001,:9', ['|80>80', '|8000>8000', '|8001>8001', '|0>9']],
    ['5-5', ['|5>5']],
    ['65535', ['|65535>65535']],
    ['08080:3000', ['|8080>3000!']],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  it.each([
    ['8080:3000', ['|8080>3000!']],
    ['8080:', ['|8080>0!']],
    ['8080:0', ['|8080>0!']],
    ['10.0.0.7:5432:5432', ['10.0.0.7|5432>5432!']],
  ])('%s in reverse', (text, expected) => {
    expect(parse(text, true)).toEqual(expected);
  });

  it.each([
    ['', 'not a port to forward: (empty)'],
    ['x', 'not a port to forward: x'],
    ['-1', 'not a port to forward: -1'],
    ['1e3', 'not a port to forward: 1e3'],
    ['3000 ', 'not a port to forward: 3000 '],
    ['80,', 'not a port to forward: 80,'],
    ['65536', 'there is no port 65536: the highest is 65535'],
    ['0', 'port 0 cannot be connected to: 0'],
    ['8080:0', 'port 0 cannot be connected to: 8080:0'],
    ['8080:', 'not a port to forward: 8080:'],
    ['::1:80:80', 'not a port to forward: ::1:80:80'],
    ['[::1:80:80', 'not a port to forward: [::1:80:80'],
    ['[zz]:80:80', 'not an IPv6 address: zz in [zz]:80:80'],
    ['[::1]:80', 'not a port to forward: [::1]:80'],
    ['example.org:80:80', 'not an address of this machine: example.org in example.org:80:80'],
    ['1.2.3.400:80:80', 'not an address of this machine: 1.2.3.400 in 1.2.3.400:80:80'],
    ['9-8', 'the range 9-8 runs backwards'],
    ['1-2-3', 'not a port to forward: 1-2-3'],
    ['0-3', 'port 0 cannot be connected to: 0-3'],
    ['1-2000', 'the range 1-2000 has more than 1000 ports'],
    ['8000-8001:9000-9002', 'the two ranges differ in length: 8000-8001:9000-9002'],
    ['8000:9000-9002', 'the two ranges differ in length: 8000:9000-9002'],
  ])('%j is refused', (text, message) => {
    expect(usage(() => parse(text))).toBe(message);
  });

  it('in reverse needs the local port', () => {
    expect(usage(() => parse(':3000', true))).toBe('not a port to forward: :3000');
  });

  it('is a usage error or ports in range, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789:-,.[]') }),
        fc.boolean(),
        (text, reverse) => {
          try {
            for (const { local, remote } of parseForwardSpec(text, { reverse })) {
              expect(local >= 0 && local <= 65_535 && remote >= 0 && remote <= 65_535).toBe(true);
              expect(reverse ? local : remote).toBeGreaterThan(0);
            }
          } catch (error) {
            expect(error).toMatchObject({ code: 'usage' });
          }
        },
      ),
    );
  });
});

describe('several specs', () => {
  it('may not listen twice on one port', () => {
    expect(usage(() => parseForwardSpecs(['8080:1', '8080:2'], { reverse: false }))).toBe(
      'port 8080 is asked for twice',
    );
    expect(parseForwardSpecs(['8080:1', '127.0.0.2:8080:2', ':1', ':2'], { reverse: false })).toHaveLength(4);
    expect(usage(() => parseForwardSpecs(['1:8080', '2:8080'], { reverse: true }))).toBe(
      'port 8080 is asked for twice',
    );
    expect(parseForwardSpecs(['8080:1', '8080:2'], { reverse: true })).toHaveLength(2);
  });

  it('are at most a thousand', () => {
    expect(usage(() => parseForwardSpecs(['1-900', '901-1001'], { reverse: false }))).toContain(
      '1001 ports are more',
    );
  });
});

describe('a Unix spec', () => {
  it('ends in a port', () => {
    expect(parseUnixSpec('./a.sock:3000')).toEqual({ path: './a.sock', remote: 3000 });
    expect(parseUnixSpec('/a:b/c:3000')).toEqual({ path: '/a:b/c', remote: 3000 });
    expect(usage(() => parseUnixSpec(':3000'))).toContain('not a socket and a port');
    expect(usage(() => parseUnixSpec('./a.sock'))).toContain('not a socket and a port');
    expect(usage(() => parseUnixSpec('./a.sock:0'))).toContain('port 0');
  });
});

describe('the words of the command line', () => {
  const plan = (...words: string[]) => planForward({ words, reverse: false, all: false });

  it('begin with a sandbox unless the first is a port', () => {
    expect(plan('box', '3000')).toMatchObject({ sandbox: 'box', specs: ['3000'] });
    expect(plan('3000', '80')).toMatchObject({ sandbox: undefined, specs: ['3000', '80'] });
    expect(plan('prod/1', '80')).toMatchObject({ sandbox: 'prod/1' });
    for (const spec of ['1', ':1', '1,2', '1-2', '1.2.3.4:1:2', '[::1]:1:2', 'localhost:1:2']) {
      expect(looksLikeSpec(spec), spec).toBe(true);
    }
    for (const name of ['a1', 'box', '3000a', 'a:1:2', '8080.5'])
      expect(looksLikeSpec(name), name).toBe(false);
  });

  it('ask for something', () => {
    expect(usage(() => plan('box'))).toBe('no port to forward is named');
    expect(planForward({ words: ['box'], reverse: false, all: true }).plan.all).toBe(true);
  });

  it('do not contradict themselves', () => {
    expect(usage(() => planForward({ words: ['box', '1'], reverse: true, all: true }))).toContain('--all');
    expect(usage(() => planForward({ words: [], unix: ['a:1'], reverse: true, all: false }))).toContain(
      '--unix',
    );
    expect(usage(() => planForward({ words: ['1'], reverse: false, all: false, address: 'here' }))).toContain(
      'here',
    );
  });
});

it('a port is decimal digits', () => {
  expect(parsePort('22')).toBe(22);
  expect(usage(() => parsePort('0x16'))).toContain('0x16');
});
