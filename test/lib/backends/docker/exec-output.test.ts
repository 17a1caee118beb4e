/** The outputs of an attached command: the greeting is taken off, and nothing else. */
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { execOutput } from '../../../../src/lib/backends/docker/exec-output.ts';

const MARK = '0123456789abcdef';
const GREETING = `sbx:${MARK}:42;`;

function open(chunks: readonly Buffer[], terminal = false) {
  const connection = new PassThrough();
  const output = execOutput(connection, { terminal, mark: MARK, onReaderGone: () => undefined });
  Readable.from(chunks, { objectMode: false }).pipe(connection);
  return output;
}

test('a greeting cut anywhere is taken off each output, and tells the process', async () => {
  const wire = Buffer.concat([frame(1, GREETING), frame(2, GREETING), frame(1, 'out'), frame(2, 'err;')]);
  for (let cut = 1; cut < wire.length; cut++) {
    const output = open([wire.subarray(0, cut), wire.subarray(cut)]);
    const read = Promise.all([buffer(output.stdout), output.stderr && buffer(output.stderr)]);
    expect(await output.greeted).toBe(42);
    await output.ended;
    output.finish();
    expect((await read).map(String)).toEqual(['out', 'err;']);
  }
});

test('a terminal has one output, without frames', async () => {
  const output = open([Buffer.from(`${GREETING}sbx:${MARK}:1;`)], true);
  expect(await output.greeted).toBe(42);
  await output.ended;
  output.finish();
  expect(String(await buffer(output.stdout))).toBe(`sbx:${MARK}:1;`);
  expect(output.stderr).toBeUndefined();
});

test.each([
  'OCI runtime exec failed: no such file',
  'sbx:ffffffffffffffff:42;',
  `sbx:${MARK}:4x2;`,
  `sbx:${MARK}:${'1'.repeat(60)}`,
])('what is no greeting is never a command’s output: %s', async (text) => {
  const output = open([frame(1, text)]);
  await output.ended;
  output.finish();
  expect(await output.greeted).toBeUndefined();
  expect(output.stray()).toBe(text);
  expect(await buffer(output.stdout)).toHaveLength(0);
});

test('what is no frame breaks the connection', async () => {
  const output = open([Buffer.from('HTTP/1.1 400 Bad Request')]);
  expect(await output.ended).toBeInstanceOf(Error);
});

function frame(kind: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}
