import { describe, expect, test } from 'vitest';
import { type Answer, dialectOf, SHELLS } from '../../../../src/lib/cli/completion/answer.ts';

const HOSTILE = 'esc\u001b[31m\u202e';
const answer = (values: readonly string[], more: Partial<Answer> = {}): Answer => ({
  candidates: values.map((value) => ({ value, goesOn: value.endsWith('/') })),
  before: '',
  ...more,
});
const records = (text: string) => text.split('\0').slice(0, -1);

describe('bash', () => {
  const ask = (end: string, word: string, values: readonly string[]) =>
    records(dialectOf('bash', [end, 'cp', word]).write(answer(values)));

  test('gets what is to stand in place of the end of the word, with the quotes that it needs', () => {
    expect(ask('/e', 'box:/e', ['box:/etc/', 'box:/a'])).toEqual(['goes-on', '/etc/']);
    expect(ask('my', 'my', ['my box'])).toEqual(['', 'my\\ box']);
    expect(ask('my', "'my", ['my box'])).toEqual(['', 'my box']);
    expect(ask('', 'box:', ['box:/a b', 'other'])).toEqual(['', '/a\\ b']);
    expect(ask('va', '--x=va', ['--x=val', '--x=other'])).toEqual(['', 'val']);
  });

  test('is told to go on only where all that fits does', () => {
    expect(ask('f', 'f', ['file', 'sub/'])).toEqual(['', 'file']);
  });

  test('hands over words with their quotes', () => {
    expect(dialectOf('bash', ['b', 'exec', "$'a\\nb'", '"c d', 'x\\ b']).words).toEqual([
      'exec',
      'a\nb',
      'c d',
      'x b',
    ]);
  });
});

describe('zsh', () => {
  test('gets each name, its look and a mark', () => {
    const { words, write } = dialectOf('zsh', ['cp', '']);
    expect(words).toEqual(['cp', '']);
    const candidates = [
      { value: 'a b', description: 'first\nline' },
      { value: 'two\nlines/', goesOn: true },
    ];
    expect(records(write({ candidates, before: '' }))).toEqual([
      'goes-on',
      'a b',
      'a b          -- first\\nline',
      '',
      'two\nlines/',
      'two\\nlines/',
      '+',
    ]);
  });
});

describe('fish', () => {
  test('gets names and descriptions with a tab between them', () => {
    const { words, write } = dialectOf('fish', ['cp', "'my b"]);
    expect(words).toEqual(['cp', 'my b']);
    const candidates = [{ value: 'a b', description: 'tab\there' }, { value: 'two\nlines' }];
    expect(records(write({ candidates, before: '', local: 'files' }))).toEqual([
      'files',
      'a b\ttab\\there',
      'two\nlines',
    ]);
  });
});

describe('PowerShell', () => {
  const said = (words: readonly string[]) => [Buffer.from(JSON.stringify(words)).toString('base64')];

  test('gets one line of ASCII with whole words', () => {
    const { words, write } = dialectOf('powershell', said(['cp', '', "it's ü"]));
    expect(words).toEqual(['cp', '', "it's ü"]);
    const line = write(answer(["it's ünï", 'other'], { local: 'folders', before: '--x=', innerAt: 3 }));
    expect(line).toMatch(/^[\x20-\x7e]+\n$/);
    expect(JSON.parse(line)).toEqual({
      items: [{ text: "'it''s ünï'", look: "it's ünï", tip: "it's ünï" }],
      local: 'folders',
      before: '--x=',
      inner: 3,
    });
  });
});

test.each(SHELLS)('nothing that %s gets can steer a terminal', (shell) => {
  const said =
    shell === 'powershell' ? [Buffer.from('[""]').toString('base64')] : shell === 'bash' ? ['', ''] : [''];
  const text = dialectOf(shell, said).write({
    candidates: [
      { value: HOSTILE, description: HOSTILE },
      { value: 'fine', description: HOSTILE },
    ],
    before: '',
  });
  expect(text).toContain('fine');
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u202e');
});
