import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { enterRawMode, type RawInput } from '../../../src/lib/session/raw-mode.ts';

function terminal(before = false): RawInput & { readonly modes: boolean[] } {
  const modes: boolean[] = [];
  return Object.assign(new PassThrough(), {
    modes,
    isRaw: before,
    setRawMode(raw: boolean) {
      modes.push(raw);
      this.isRaw = raw;
    },
  });
}

test('raw while it is held', () => {
  const input = terminal();
  {
    using _raw = enterRawMode(input);
    expect(input.isRaw).toBe(true);
  }
  expect(input.modes).toEqual([true, false]);
});

test('what was raw before stays raw', () => {
  const input = terminal(true);
  enterRawMode(input)[Symbol.dispose]();
  expect(input.modes).toEqual([true, true]);
});

test('restored when an error is thrown', () => {
  const input = terminal();
  expect(() => {
    using _raw = enterRawMode(input);
    throw new Error('x');
  }).toThrow('x');
  expect(input.isRaw).toBe(false);
});

test('restored when the process exits while it is held', () => {
  const input = terminal();
  const before = process.listeners('exit');
  const raw = enterRawMode(input);
  const [restore] = process.listeners('exit').filter((listener) => !before.includes(listener));
  restore?.call(process, 0);
  expect(input.isRaw).toBe(false);
  raw[Symbol.dispose]();
  expect(process.listeners('exit')).toEqual(before);
});

test('a terminal that is closed meanwhile is no crash', () => {
  const input = terminal();
  const raw = enterRawMode(input);
  input.setRawMode = () => input.emit('error', Object.assign(new Error('setRawMode EIO'), { code: 'EIO' }));
  raw[Symbol.dispose]();
});
