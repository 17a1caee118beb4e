import xterm from '@xterm/headless';
import { expect, test, vi } from 'vitest';
import { createScreenWriter, MOST_WAITING } from '../../../src/lib/session/screen-writer.ts';
import { memoryTerminal } from '../../support/memory-session.ts';

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 1 });

function open(
  onDropped: () => void = () => {
    throw new Error('something was dropped');
  },
) {
  const terminal = memoryTerminal();
  return { terminal, writer: createScreenWriter(terminal.output, onDropped) };
}

test('all that a terminal takes is written, in order', async () => {
  const { terminal, writer } = open();
  const text = Array.from({ length: 200_000 }, (_, index) => `${index}\n`).join('');
  for (let at = 0; at < text.length; at += 50_000) {
    writer.write(Buffer.from(text.slice(at, at + 50_000)));
    await writer.flush(20_000);
  }
  await writer.flush(20_000);
  expect(terminal.shown).toBe(text);
  writer[Symbol.dispose]();
});

test('of what a stalled terminal misses the end is shown, on a screen that is as the program left it', async () => {
  const onDropped = vi.fn();
  const { terminal, writer } = open(onDropped);
  writer.write(Buffer.from('\x1b[?1002h\x1b[31mstart'));
  await until(() => expect(terminal.shown).toContain('start'));
  terminal.takes = false;
  const line = (index: number) => `line ${index} \x1b[6n${'.'.repeat(90)}\r\n`;
  writer.write(Buffer.from('\x1b[?25l\x1b[?2004h'));
  const count = Math.ceil((3 * MOST_WAITING) / 100);
  for (let index = 0; index < count; index++) writer.write(Buffer.from(line(index)));
  writer.write(Buffer.from('\x1b[?1002l\x1b[4;5Hend'));
  terminal.takes = true;
  await writer.flush(20_000);
  expect(onDropped).toHaveBeenCalledOnce();
  expect(terminal.shown.length).toBeLessThan(2 * MOST_WAITING);
  const screen = new xterm.Terminal({ allowProposedApi: true, cols: 80, rows: 24 });
  let answers = '';
  screen.onData((data) => {
    answers += data;
  });
  await new Promise<void>((done) => screen.write(terminal.shown, done));
  const { active } = screen.buffer;
  expect(
    active
      .getLine(active.baseY + 3)
      ?.translateToString(true)
      .slice(0, 8),
  ).toMatch(/^(line|\.{4})end/);
  expect(screen.modes).toMatchObject({ bracketedPasteMode: true, mouseTrackingMode: 'none' });
  expect(terminal.shown).toContain('\x1b[?25l');
  expect(terminal.shown).toMatch(/\[2\.\d[^\]]* not shown\]/);
  // What was asked before it stalled is answered; what the kept end asks is stale.
  expect(answers.length).toBeLessThan(20_000);
  screen.dispose();
  writer[Symbol.dispose]();
});

test('a terminal that has gone is told, and takes nothing', async () => {
  const { terminal, writer } = open();
  terminal.output.emit('error', Object.assign(new Error('write EIO'), { code: 'EIO' }));
  await writer.gone;
  writer.write(Buffer.from('x'));
  await writer.flush(1);
  expect(terminal.shown).toBe('');
  writer[Symbol.dispose]();
});

test('an error that is another is not swallowed', () => {
  const { terminal, writer } = open();
  expect(() => terminal.output.emit('error', new Error('odd'))).toThrow('odd');
  writer[Symbol.dispose]();
});

test('while it is held the terminal never makes this process wait; afterwards it may', () => {
  const blocking: boolean[] = [];
  const terminal = memoryTerminal();
  Object.assign(terminal.output, { _handle: { setBlocking: (on: boolean) => void blocking.push(on) } });
  const writer = createScreenWriter(terminal.output, () => undefined);
  expect(blocking).toEqual([false]);
  writer[Symbol.dispose]();
  expect(blocking).toEqual([false, true]);
});

test('modes are off when the process exits while it is held', () => {
  const { terminal, writer } = open();
  const before = process.listeners('exit');
  writer.write(Buffer.from('\x1b[?1000h'));
  before.at(-1)?.call(process, 0);
  expect(terminal.shown).toBe('\x1b[?1000h\x1b[?1000l');
  writer[Symbol.dispose]();
  expect(process.listeners('exit')).not.toContain(before.at(-1));
});
