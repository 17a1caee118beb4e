import { describe, expect, it } from 'vitest';
import { decideColor } from '../../../src/lib/ui/color.ts';
import { type Format, render, type View } from '../../../src/lib/ui/output.ts';
import { pad, truncate, visible, width } from '../../../src/lib/ui/text.ts';

interface Box {
  readonly name: string;
  readonly image?: string;
}

const view: View<Box> = {
  name: (box) => box.name,
  columns: [
    { header: 'NAME', value: (box) => box.name, whole: true },
    { header: 'IMAGE', value: (box) => box.image },
    { header: 'ID', value: () => '42', wide: true, align: 'right' },
  ],
};
const boxes: Box[] = [{ name: 'a\n\u001b[2J', image: 'debian' }, { name: '箱' }];
const show = (format: Format, columns?: number) =>
  render(boxes, view, { format, columns, color: false, now: new Date(0) });

describe('render', () => {
  it('draws a plain table with control characters visible', async () => {
    expect(await show('table')).toBe('NAME      IMAGE\na\\n\\e[2J  debian\n箱        -\n');
    expect(await show('wide')).toBe('NAME      IMAGE   ID\na\\n\\e[2J  debian  42\n箱        -       42\n');
  });

  it('fits the width by cutting what may be cut', async () => {
    expect(await show('table', 15)).toBe('NAME      IMAGE\na\\n\\e[2J  debi…\n箱        -\n');
  });

  it('keeps data exact in JSON and YAML', async () => {
    expect(JSON.parse(await show('json'))).toEqual(boxes);
    expect(
      (await show('jsonl'))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual(boxes);
    expect(await show('yaml')).toBe('- name: "a\\n\\e[2J"\n  image: debian\n- name: 箱\n');
    expect(await show('name')).toBe('a\\n\\e[2J\n箱\n');
  });

  it('prints nothing for no names and a header for no rows', async () => {
    const options = { columns: undefined, color: false, now: new Date(0) };
    expect(await render([], view, { ...options, format: 'name' })).toBe('');
    expect(await render([], view, { ...options, format: 'json' })).toBe('[]\n');
    expect(await render([], view, { ...options, format: 'table' })).toBe('NAME  IMAGE\n');
  });
});

describe('text', () => {
  it('measures cells, not characters', () => {
    expect(['abc', '箱', 'e\u0301', '👩‍👩‍👧', '🇩🇪', '☀️', ''].map(width)).toEqual([3, 2, 1, 2, 2, 2, 0]);
    expect(truncate('箱箱箱', 5)).toBe('箱箱…');
    expect(pad('箱', 3)).toBe('箱 ');
  });

  it('shows what would steer a terminal', () => {
    expect(visible('a\tb\r\x07\u202e\u009b\ud800é')).toBe('a\\tb\\r\\x07\\u202e\\x9b\\ud800é');
  });
});

describe('decideColor', () => {
  const on = (env: Record<string, string>, isTTY = true, flag?: boolean) => decideColor({ isTTY, env, flag });
  it('follows flag, NO_COLOR, FORCE_COLOR, terminal', () => {
    expect(on({ TERM: 'xterm' })).toBe(true);
    expect(on({ TERM: 'dumb' })).toBe(false);
    expect(on({})).toBe(false);
    expect(on({ TERM: 'xterm' }, false)).toBe(false);
    expect(on({ FORCE_COLOR: '1' }, false)).toBe(true);
    expect(on({ FORCE_COLOR: '1', NO_COLOR: '1' }, false)).toBe(false);
    expect(on({ NO_COLOR: '1' }, false, true)).toBe(true);
  });
});
