import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { dtachChannel } from '../../../src/lib/transport/dtach-channel.ts';

test('a session that has ended by the time it is attached to is over, and hangs nobody', async () => {
  const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  stream.destroy();
  await once(stream, 'close');
  let released = 0;
  const end = { reason: 'ended', exit: { code: 3 } } as const;
  const { channel } = dtachChannel(
    { stream, howEnded: async () => end, release: () => void released++ },
    { size: { cols: 80, rows: 24 } },
  );
  expect(await channel.closed).toEqual(end);
  expect(released).toBe(1);
});
