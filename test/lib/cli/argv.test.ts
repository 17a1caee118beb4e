import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArgvShape, splitArgv, verbFirst } from '../../../src/lib/cli/argv.ts';

const exec: ArgvShape = {
  positionals: 1,
  flags: {
    interactive: { takesValue: false, char: 'i' },
    tty: { takesValue: false, char: 't' },
    json: { takesValue: false },
    env: { takesValue: true, char: 'e' },
    workdir: { takesValue: true, aliases: ['cwd'] },
  },
};

const split = (line: string, shape = exec) => {
  const { own, inner } = splitArgv(line.split(' '), shape);
  return [own.join(' '), inner.join(' ')];
};

describe('splitArgv', () => {
  it.each([
    ['box ls -la', 'box', 'ls -la'],
    ['box -- ls -la', 'box', 'ls -la'],
    ['-it box sh -i', '-it box', 'sh -i'],
    ['box -it sh', 'box -it', 'sh'],
    ['-e A=b --workdir /x box ls', '-e A=b --workdir /x box', 'ls'],
    ['--workdir=/x box ls', '--workdir=/x box', 'ls'],
    ['--cwd /x box ls', '--cwd /x box', 'ls'],
    ['-eA=b box ls', '-eA=b box', 'ls'],
    ['-ite A=b box ls', '-ite A=b box', 'ls'],
    ['-itxe box ls', '-itxe box', 'ls'],
    ['box cmd --json', 'box', 'cmd --json'],
    ['--json box cmd', '--json box', 'cmd'],
    ['box echo -- x', 'box', 'echo -- x'],
    ['-- ls -la', '', 'ls -la'],
    ['-e -- box ls', '-e -- box', 'ls'],
    ['box -- -- x', 'box', '-- x'],
    ['- ls', '-', 'ls'],
    ['box', 'box', ''],
  ])('splits %j', (line, own, inner) => {
    expect(split(line)).toEqual([own, inner]);
  });

  it('keeps empty words', () => {
    expect(splitArgv(['box', 'echo', '', 'a b', "'"], exec).inner).toEqual(['echo', '', 'a b', "'"]);
    expect(splitArgv(['', 'ls'], exec)).toEqual({ own: [''], inner: ['ls'], help: false });
  });

  it('sees --help before the inner command only', () => {
    expect(splitArgv(['-h', 'box'], exec).help).toBe(true);
    expect(splitArgv(['box', 'ls', '--help'], exec)).toMatchObject({ help: false, inner: ['ls', '--help'] });
    expect(splitArgv(['-e', '-h', 'box'], exec).help).toBe(false);
  });

  it('waits for -- where the shape says so', () => {
    expect(split('box image -- sh -c x', { ...exec, positionals: undefined })).toEqual([
      'box image',
      'sh -c x',
    ]);
  });

  it('refuses a value for a flag that takes none', () => {
    expect(() => splitArgv(['--json=true', 'box'], exec)).toThrow('--json takes no value');
  });

  const own = fc.array(
    fc.constantFrom(
      ['-i'],
      ['-it'],
      ['--json'],
      ['-e', 'A=--json'],
      ['-eA='],
      ['--workdir', '/x'],
      ['--cwd=/y'],
    ),
    { maxLength: 5 },
  );
  const words = fc.array(fc.string(), { maxLength: 6 });

  it('gives any words after -- to the inner command, unchanged', () => {
    fc.assert(
      fc.property(own, words, (flags, inner) => {
        const before = [...flags.flat(), 'box'];
        expect(splitArgv([...before, '--', ...inner], exec)).toEqual({ own: before, inner, help: false });
      }),
    );
  });

  it('gives any words after the first word of the command to it, unchanged', () => {
    fc.assert(
      fc.property(own, words, (flags, rest) => {
        const before = [...flags.flat(), 'box'];
        expect(splitArgv([...before, 'cmd', ...rest], exec)).toEqual({
          own: before,
          inner: ['cmd', ...rest],
          help: false,
        });
      }),
    );
  });

  it('loses and reorders nothing', () => {
    const any = fc.array(fc.oneof(fc.constantFrom('--', '-i', '-e', '--workdir', '-', ''), fc.string()));
    fc.assert(
      fc.property(
        any.map((all) => all.filter((word) => word !== '-h' && word !== '--help' && !/^--.*=/.test(word))),
        (argv) => {
          const { own: before, inner } = splitArgv(argv, exec);
          const joined = [...before, ...inner];
          const cut = before.length;
          expect([joined, [...before, '--', ...inner]]).toContainEqual(argv);
          expect(argv.slice(0, cut)).toEqual(before);
        },
      ),
    );
  });
});

describe('verbFirst', () => {
  const flags = { backend: { takesValue: true, char: 'b' }, json: { takesValue: false } };
  it.each([
    ['--json ls -a', 'ls --json -a'],
    ['-b docker --json exec box x', 'exec -b docker --json box x'],
    ['--backend=docker ls', 'ls --backend=docker'],
    ['ls --json', 'ls --json'],
    ['--version', '--version'],
    ['--wrong ls', '--wrong ls'],
  ])('%s', (line, expected) => {
    expect(verbFirst(line.split(' '), flags).join(' ')).toBe(expected);
  });
});
