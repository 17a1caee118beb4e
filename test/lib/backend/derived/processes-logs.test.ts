import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogOptions, Processes } from '../../../../src/lib/backend/contract.ts';
import { folderProcesses } from '../../../../src/lib/backend/derived/process-folder.ts';
import { call, type ProcessBox, processBox, readUntil, textOf, untilEnd } from './process-box.ts';

const READERS = [
  ['dash', 'exec'],
  ['busybox', 'exec'],
  ['dash', 'folder'],
] as const;

describe.each(READERS)('logs of processes, %s, read by %s', (shell, by) => {
  let box: ProcessBox;
  let reader: Pick<Processes, 'logs'>;
  beforeEach(async () => {
    box = await processBox(shell);
    reader = by === 'exec' ? box.processes : folderProcesses(box.folder, { running: true });
  });
  afterEach(async () => {
    await box[Symbol.asyncDispose]();
  });

  const read = (ref: string, options: Partial<LogOptions> = {}) =>
    textOf(reader.logs(ref, { follow: false, ...options }, call));
  const pathOf = (id: string, file: string) => join(box.folder, 'processes', id, file);

  /** An ended process whose log and index are as given. */
  async function recorded(log: string | Buffer, index?: string): Promise<string> {
    const { id } = await box.processes.start({ argv: ['true'] }, call);
    await untilEnd(box.processes, id);
    writeFileSync(pathOf(id, 'log'), log);
    if (index !== undefined) writeFileSync(pathOf(id, 'index'), index);
    return id;
  }

  it('gives back every byte, a partial last line and binary included', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a\n\0\xff\xfe\r\n', 'latin1'),
      Buffer.alloc(200_000, 'xyz\n'),
      Buffer.from('end'),
    ]);
    const id = await recorded(bytes);
    const parts: Uint8Array[] = [];
    for await (const { data } of reader.logs(id, { follow: false }, call)) parts.push(data);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
  });

  it.each([
    [0, ''],
    [1, 'partial'],
    [2, 'three\npartial'],
    [4, 'one\ntwo\nthree\npartial'],
    [9, 'one\ntwo\nthree\npartial'],
  ])('gives the last %i lines', async (tail, wanted) => {
    expect(await read(await recorded('one\ntwo\nthree\npartial'), { tail })).toBe(wanted);
  });

  it('counts empty lines and a line longer than any block', async () => {
    const long = 'x'.repeat(300_000);
    const id = await recorded(`first\n${long}\n\n\nlast\n`);
    expect(await read(id, { tail: 3 })).toBe('\n\nlast\n');
    expect(await read(id, { tail: 4 })).toBe(`${long}\n\n\nlast\n`);
    expect(await read(await recorded(''), { tail: 3 })).toBe('');
  });

  it('reads the tail of a huge log from its end', async () => {
    const id = await recorded('');
    truncateSync(pathOf(id, 'log'), 40 * 1024 ** 3);
    appendFileSync(pathOf(id, 'log'), '\nlast but one\nlast\n');
    expect(await read(id, { tail: 2 })).toBe('last but one\nlast\n');
  });

  it('selects by time in whole lines, and tells the time of each piece', async () => {
    const id = await recorded('one\ntwo\nthree\nfour\n', '1000 0\n1010 4\n1020 10\n1030 14\n1040 19\n');
    const second = (at: number) => at * 1000;
    expect(await read(id, { since: second(1015) })).toBe('two\nthree\nfour\n');
    expect(await read(id, { until: second(1030) })).toBe('one\ntwo\nthree\n');
    expect(await read(id, { since: second(1015), until: second(1025) })).toBe('two\n');
    expect(await read(id, { since: second(5000) })).toBe('');
    expect(await read(id, { until: second(500) })).toBe('');
    expect(await read(id, { since: second(1005), tail: 1 })).toBe('four\n');
    const timed: [string, number | undefined][] = [];
    for await (const { data, time } of reader.logs(id, { follow: false }, call))
      timed.push([String(Buffer.from(data)), time]);
    expect(timed).toEqual([
      ['one\n', 1_010_000],
      ['two\nth', 1_020_000],
      ['ree\n', 1_030_000],
      ['four\n', 1_040_000],
    ]);
  });

  it('reads what a hostile index leaves of the log', async () => {
    const id = await recorded(
      'one\ntwo\n',
      `x\n9 9 9\n-1 4\n${'9'.repeat(40)} 1\n1010 99999999\n$(touch x) 3\n`,
    );
    expect(await read(id)).toBe('one\ntwo\n');
    expect(await read(id, { since: 2_000_000 })).toBe('');
    expect(await read(id, { until: 2_000_000, tail: 1 })).toBe('two\n');
  });

  it('follows what is written and ends with the process and its partial line', async () => {
    const script = 'echo early; trap "printf partial; exit 0" USR1; echo ready; sleep 300 & wait';
    const { id } = await box.processes.start({ argv: ['sh', '-c', script], name: 'main' }, call);
    const following = reader.logs(id, { follow: true }, call)[Symbol.asyncIterator]();
    expect(await readUntil(following, 'ready\n')).toBe('early\nready\n');
    const tail = reader.logs('main', { follow: true, tail: 1 }, call)[Symbol.asyncIterator]();
    expect(await readUntil(tail, '\n')).toBe('ready\n');
    await box.processes.kill('main', 'USR1', call);
    expect(await readUntil(following, 'partial')).toBe('partial');
    expect(await readUntil(tail, 'partial')).toBe('partial');
    expect([(await following.next()).done, (await tail.next()).done]).toEqual([true, true]);
  });

  it('starts again from the top when the log is truncated', async () => {
    const { id } = await box.processes.start({ argv: ['sleep', '300'] }, call);
    const log = pathOf(id, 'log');
    appendFileSync(log, 'before before before\n');
    const following = reader.logs(id, { follow: true }, call)[Symbol.asyncIterator]();
    await readUntil(following, 'before\n');
    truncateSync(log);
    appendFileSync(log, 'after\n');
    expect(await readUntil(following, 'after\n')).toBe('after\n');
    await following.return?.(undefined);
  });

  it('stops following when the call is given up', async () => {
    const { id } = await box.processes.start({ argv: ['sh', '-c', 'echo hi; exec sleep 300'] }, call);
    const giveUp = new AbortController();
    const following = reader.logs(id, { follow: true }, { signal: giveUp.signal })[Symbol.asyncIterator]();
    await readUntil(following, 'hi\n');
    const next = following.next();
    giveUp.abort();
    await expect(next).rejects.toMatchObject({ code: 'interrupted' });
  });

  it('knows no log of an unknown process', async () => {
    await expect(read('nope')).rejects.toMatchObject({ code: 'not_found' });
    await expect(read('0000aaaa')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('samples the growth of the log once a second, so that since and until work', async () => {
    const script = 'echo one; sleep 2.2; echo two; sleep 0.1';
    const { id } = await box.processes.start({ argv: ['sh', '-c', script] }, call);
    await untilEnd(box.processes, id);
    const index = readFileSync(pathOf(id, 'index'), 'latin1')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    expect(index.map(([, size]) => size).filter((size, at, all) => size !== all[at - 1])).toEqual([0, 4, 8]);
    const written = new Map(index.map(([time = 0, size = 0]) => [size, time * 1000]));
    expect(await read(id, { since: (written.get(4) ?? 0) + 1000 })).toBe('two\n');
    expect(await read(id, { until: (written.get(4) ?? 0) + 1000 })).toBe('one\n');
    expect(statSync(pathOf(id, 'log')).size).toBe(8);
  });
});
