import { describe, expect, it } from 'vitest';
import { attachFilter } from '../../../src/lib/guest/attach-filter.ts';
import { attachReport } from '../../../src/lib/guest/session-attach.ts';
import { isSessionName, parseSessionList, parseSurroundings } from '../../../src/lib/guest/sessions.ts';

const MARK = 'sbx-0123';

describe('session names', () => {
  it.each(['main', '_', 'a.b-c_D9', 'x'.repeat(64)])('%s is one', (name) => {
    expect(isSessionName(name)).toBe(true);
  });
  it.each(['', '.', '..', '.a', '-a', 'a/b', 'a b', 'a\n', 'é', 'x'.repeat(65)])('%j is none', (name) => {
    expect(isSessionName(name)).toBe(false);
  });
});

describe('a listing', () => {
  const session = (line: string, command = '', workdir = '') =>
    `${MARK}\n${line}\n${command}${MARK}\n${workdir}`;
  const parse = (...parts: string[]) => parseSessionList(Buffer.from(`${parts.join('')}${MARK}\n`), MARK);

  it('says what is known, the oldest first', () => {
    expect(
      parse(
        session('b running 12 2000 - - yes 24 80 partial', 'vi\0a b\0', '/srv\n'),
        session('a ended 11 1000 129 1500 - - - whole'),
      ),
    ).toEqual([
      {
        name: 'a',
        state: 'ended',
        createdAt: '1970-01-01T00:16:40.000Z',
        endedAt: '1970-01-01T00:25:00.000Z',
        recording: 'whole',
        pid: 11,
        exit: { signal: 'HUP' },
      },
      {
        name: 'b',
        state: 'running',
        createdAt: '1970-01-01T00:33:20.000Z',
        recording: 'partial',
        pid: 12,
        attached: true,
        command: "vi 'a b'",
        workdir: '/srv',
        size: { cols: 80, rows: 24 },
      },
    ]);
  });

  it('makes unknown facts of nonsense, and leaves out what has no name', () => {
    expect(
      parse(
        session('../x running 1 1 - - yes 24 80 whole'),
        session('ok running -5 99999999999999999999 - - perhaps 0 70000 lots'),
        session('gone ended x y 256 z'),
      ),
    ).toEqual([
      { name: 'gone', state: 'ended' },
      { name: 'ok', state: 'running' },
    ]);
  });

  it('orders those of one second by the clock of the system', () => {
    const [one, two] = ['a running 1 7 - - no 24 80 whole 900', 'b running 1 7 - - no 24 80 whole 80'];
    expect(parse(session(one), session(two)).map(({ name }) => name)).toEqual(['b', 'a']);
  });

  it('takes no command for the next session', () => {
    const hostile = `evil\0x\nfake running 1 1 - - no 1 1 whole\n`;
    expect(
      parse(session('a running 1 1 - - no 24 80 whole', hostile, '/\n')).map(({ name }) => name),
    ).toEqual(['a']);
  });
});

describe('surroundings', () => {
  it('may hold lines in both of their parts', () => {
    const output = Buffer.from(`/a\nb\n${MARK}\nA=1\0B=x\ny=\0C\0=d\0`);
    expect(parseSurroundings(output, MARK)).toEqual({ workdir: '/a\nb', env: { A: '1', B: 'x\ny=' } });
  });
  it('are not made up', () => {
    expect(parseSurroundings(Buffer.from(`\n${MARK}\n`), MARK)).toBeUndefined();
    expect(parseSurroundings(Buffer.from('/a'), MARK)).toBeUndefined();
  });
});

describe('what the attaching program says', () => {
  it('counts only with the mark, once the line is whole', () => {
    expect(attachReport(`noise\n${MARK} connected\n`, MARK)).toEqual({ connected: true, end: undefined });
    expect(attachReport('other ended 1\n', MARK).end).toBeUndefined();
    expect(attachReport(`${MARK} ended 1`, MARK).end).toBeUndefined();
    expect(attachReport(`${MARK} ended 1\r\n`, MARK).end).toEqual({ reason: 'ended', exit: { code: 1 } });
    expect(attachReport(`${MARK} ended -\n`, MARK).end).toEqual({ reason: 'ended' });
    expect(attachReport(`${MARK} taken\n`, MARK).end).toEqual({ reason: 'taken' });
    expect(attachReport(`${MARK} lost\n`, MARK).end).toMatchObject({ reason: 'lost' });
  });
});

describe('the filter for the output of dtach', () => {
  const whole = `\x1b[H\x1b[Jhello\x1b[999H world\x1b\x1b[999H\r\n[EOF - dtach terminating]\r\n\x1b[?25h${MARK} ended 7\r\n`;

  it('keeps what the session has printed, however it is cut', () => {
    const bytes = Buffer.from(`noise before${whole}`);
    for (let at = 0; at <= bytes.length; at++) {
      const filter = attachFilter(MARK);
      const parts = [filter(bytes.subarray(0, at)), filter(bytes.subarray(at))];
      expect(Buffer.concat(parts.map(({ output }) => output)).toString()).toBe('hello\x1b[999H world\x1b');
      expect(parts.at(-1)?.report).toBe(`${MARK} ended 7\r\n`);
    }
    const filter = attachFilter(MARK);
    const parts = [...bytes].map((byte) => filter(Uint8Array.of(byte)));
    expect(Buffer.concat(parts.map(({ output }) => output)).toString()).toBe('hello\x1b[999H world\x1b');
    expect(parts.at(-1)?.report).toBe(`${MARK} ended 7\r\n`);
  });

  it('holds nothing back that is no beginning of last words', () => {
    const filter = attachFilter(MARK);
    filter(Buffer.from('\x1b[H\x1b[J'));
    expect(filter(Buffer.from('$ \x1b[31m')).output.toString()).toBe('$ \x1b[31m');
    expect(filter(Buffer.from(`\x1b[999H\r\n[${'x'.repeat(300)}`)).output.length).toBeGreaterThan(300);
  });

  it('tells of a program that never attached', () => {
    expect(attachFilter(MARK)(Buffer.from(`${MARK} lost\r\n`))).toEqual({
      output: Buffer.alloc(0),
      report: `${MARK} lost\r\n`,
    });
  });
});
