import { peerOrSkip } from '../support/require.ts';
import { describeHotcellApi, type Feature } from './hotcell/index.ts';
import { startSeed } from './hotcell-seed.ts';
import { findPeer } from './peers.ts';

const program = findPeer('hotcell-daemon/start.mjs');
/** What the stand-ins around it leave out: its driver, terminals, and what would run beside requests. */
const driver: Feature[] = ['limits applied', 'pause keeps processes', 'stop ends all'];
const terminals: Feature[] = ['terminal resize', 'terminal hangs up'];
const beside: Feature[] = ['follow ends', 'idle pause', 'restart', 'admission'];

if (program === undefined)
  peerOrSkip(false, 'hotcell-daemon in SBX_TEST_PEERS')('the hotcell API of its seed', () => undefined);
else
  describeHotcellApi({
    name: 'its seed',
    start: (settings) => startSeed(program, settings),
    lacks: [...driver, ...terminals, ...beside],
  });
