import { describe, expect, test } from 'vitest';
import { createEmulator } from '../../../../src/lib/ui/tui/emulator.ts';

const ESC = '\u001b';

async function shown(text: string, { cols = 20, rows = 4, crop = { cols: 20, rows: 4 } } = {}) {
  using emulator = await createEmulator(cols, rows);
  await emulator.write(Buffer.from(text));
  return emulator.lines(crop);
}

/** Without the cursor, so that lines hold what was printed alone. */
const plain = async (text: string, options = {}) => shown(`${text}${ESC}[?25l`, options);

test('text stands where the session put it', async () => {
  expect(await plain(`one\r\n${ESC}[3Cthree${ESC}[4;1Hend`)).toEqual(['one', '   three', '', 'end']);
});

describe('style', () => {
  test.each([
    ['31', '31'],
    ['1;4;97', '1;4;97'],
    ['38;5;208', '38;5;208'],
    ['38;2;1;2;250', '38;2;1;2;250'],
    ['48;5;3', '43'],
    ['48;2;9;8;7', '48;2;9;8;7'],
    ['7', '7'],
    ['2;3;9', '2;3;9'],
  ])('%s', async (codes, expected) => {
    expect((await plain(`${ESC}[${codes}mX${ESC}[0m.`))[0]).toBe(`${ESC}[0m${ESC}[${expected}mX${ESC}[0m.`);
  });

  test('does not leak out of its line', async () => {
    const [first, second] = await plain(`${ESC}[41mred\r\n${ESC}[0mplain`);
    expect(first?.endsWith(`${ESC}[0m`)).toBe(true);
    expect(second).toBe('plain');
  });

  test('what is concealed stays so', async () => {
    expect((await plain(`a${ESC}[8msecret${ESC}[0mb`)).join('')).not.toContain('secret');
  });
});

describe('characters', () => {
  test('wide ones take two cells, combining ones none', async () => {
    expect((await plain(`日本e\u0301${ESC}[1;7HX`))[0]).toBe('日本e\u0301 X');
  });

  test('emoji are wide, as terminals of today draw them', async () => {
    expect((await plain(`🚀${ESC}[1;3HX`))[0]).toBe('🚀X');
  });

  test('a wide one that does not fit the pane is a blank', async () => {
    expect((await plain('abc日', { crop: { cols: 4, rows: 1 } }))[0]).toBe('abc');
  });

  test('marks of text direction and joiners do not get out', async () => {
    expect((await plain('a\u202eb\u200dc\ufe0fd'))[0]).toBe('abcd');
  });
});

describe('the cursor', () => {
  test('is an inverse cell where it stands', async () => {
    expect((await shown('ab'))[0]).toBe(`ab${ESC}[0m${ESC}[7m ${ESC}[0m`);
  });

  test('is not drawn when the session hides it, and is again after a reset', async () => {
    expect((await shown(`ab${ESC}[?25l`))[0]).toBe('ab');
    expect((await shown(`ab${ESC}[?25l${ESC}c`))[0]).toContain(`${ESC}[7m`);
  });

  test('is always in what is shown of a tall screen', async () => {
    const text = Array.from({ length: 10 }, (_, at) => `line${at}`).join('\r\n');
    const options = { rows: 10, crop: { cols: 20, rows: 3 } };
    expect(await plain(text, options)).toEqual(['line7', 'line8', 'line9']);
    expect(await plain(`${text}${ESC}[2;1H`, options)).toEqual(['line0', 'line1', 'line2']);
  });
});

test('what was never printed is not answered, and codes do not get out', async () => {
  const lines = await plain(
    `${ESC}[6n${ESC}[c${ESC}]0;title\u0007${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007${ESC}P+q\u001b\\`,
  );
  expect(lines).toEqual([`${ESC}[0m${ESC}[4mlink${ESC}[0m`, '', '', '']);
});

test('it begins empty after clear, and forgets what scrolled off', async () => {
  using emulator = await createEmulator(10, 2);
  await emulator.write(Buffer.from(`1\r\n2\r\n3${ESC}[?25l`));
  expect(emulator.lines({ cols: 10, rows: 2 })).toEqual(['2', '3']);
  emulator.clear();
  await emulator.write(Buffer.from(`new${ESC}[?25l`));
  expect(emulator.lines({ cols: 10, rows: 2 })).toEqual(['new', '']);
});

test('a size that nobody has is not believed', async () => {
  using emulator = await createEmulator(1e9, Number.NaN);
  expect([emulator.cols, emulator.rows]).toEqual([500, 1]);
  emulator.resize({ cols: 0, rows: -5 });
  expect(emulator.rows).toBe(1);
});
