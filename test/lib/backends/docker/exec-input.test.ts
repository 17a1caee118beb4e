import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { inputOf } from '../../../../src/lib/backends/docker/exec.ts';

test('input that a broken connection drops was not read: no bug in sbx (write ECANCELED)', async () => {
  const connection = new Duplex({
    read: () => undefined,
    write(_chunk, _encoding, done) {
      done(Object.assign(new Error('write ECANCELED'), { code: 'ECANCELED' }));
    },
  }).on('error', () => undefined);
  const input = inputOf(connection);
  const failed = once(input, 'error');
  input.write('unread');
  expect(await failed).toEqual([expect.objectContaining({ code: 'EPIPE' })]);
});
