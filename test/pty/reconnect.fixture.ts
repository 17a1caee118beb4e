/**
 * A client whose connections lead through the sockets of a test: `node reconnect.fixture.ts FOLDER GIVE-UP-MS`. In
 * FOLDER, `link` leads to the session, `ping` says whether the way there is open, `recording` is what was printed.
 * Prints why it left.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { SbxError } from '../../src/lib/errors.ts';
import { attach } from '../../src/lib/session/attach.ts';
import { DEFAULT_DETACH_KEYS, parseDetachKeys } from '../../src/lib/session/detach-keys.ts';
import { dtachChannel } from '../../src/lib/transport/dtach-channel.ts';

const [folder = '.', giveUpMs = '60000'] = process.argv.slice(2);
let isNew = true;

const left = await attach(
  {
    async dial(size) {
      const stream = connect(join(folder, 'link'));
      await once(stream, 'connect').catch((cause: unknown) => {
        throw new SbxError('unreachable', 'the link is down', { cause });
      });
      const { channel } = dtachChannel(
        {
          stream,
          howEnded: async () => ({ reason: 'lost', error: new Error('the link was cut') }),
          release: () => undefined,
        },
        { size },
      );
      const dialed = { channel: { ...channel, probe }, isNew };
      isNew = false;
      return dialed;
    },
    async recording(bytes) {
      const all = await readFile(join(folder, 'recording'));
      return all.subarray(Math.max(0, all.length - bytes));
    },
    isWhole: async () => true,
    replay: true,
    keys: parseDetachKeys(DEFAULT_DETACH_KEYS),
    readOnly: false,
    giveUpMs: Number(giveUpMs),
  },
  { input: process.stdin, output: process.stdout, signal: new AbortController().signal },
);
process.stdout.write(`left: ${left.reason}\n`);
process.exit();

async function probe({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  const socket = connect(join(folder, 'ping'));
  await once(socket, 'data', { signal });
  socket.destroy();
}
