import { expect, it } from 'vitest';
import type { LogPiece } from '../../../src/lib/ops/logs.ts';
import { linesOf, matching } from '../../../src/lib/ops/logs-lines.ts';

const one: LogPiece['process'] = { id: '00000001', name: 'main', argv: ['a'], state: 'running' };
const two: LogPiece['process'] = { ...one, id: '00000002' };

async function* pieces(
  ...list: (readonly [LogPiece['process'], string, number?])[]
): AsyncGenerator<LogPiece> {
  for (const [process, data, time] of list)
    yield { process, data: Buffer.from(data), ...(time === undefined ? {} : { time }) };
}

async function shown(lines: ReturnType<typeof linesOf>): Promise<string[]> {
  const all: string[] = [];
  for await (const { bytes, time, whole, continued } of lines) {
    all.push(`${continued ? '…' : ''}${bytes}${whole ? '$' : ''}@${time}`);
  }
  return all;
}

it('joins lines over pieces, with the time of their first byte', async () => {
  expect(await shown(linesOf(pieces([one, 'a', 1], [one, 'b\nc\n\nd', 2], [one, 'e', 3])))).toEqual([
    'ab$@1',
    'c$@2',
    '$@2',
    'de@2',
  ]);
});

it('ends a partial line where another process begins', async () => {
  expect(await shown(linesOf(pieces([one, 'old', 1], [two, 'new\n', 2])))).toEqual(['old@1', 'new$@2']);
});

it('gives a line longer than the limit in parts, which go together through a filter', async () => {
  const source = () => pieces([one, 'abcdefgh\nxyz\nabcd\n']);
  expect(await shown(linesOf(source(), 4))).toEqual([
    'abcd@undefined',
    '…efgh$@undefined',
    'xyz$@undefined',
    'abcd$@undefined',
  ]);
  expect(await shown(matching(linesOf(source(), 3), /^abc/))).toEqual([
    'abc@undefined',
    '…def@undefined',
    '…gh$@undefined',
    'abc@undefined',
    '…d$@undefined',
  ]);
});
