import { findPeer } from '../interop/peers.ts';
import { peerOrSkip } from '../support/require.ts';
import { describeConformance } from './index.ts';
import { seedLacks as lacks, seedManifest as manifest, plainServer } from './plain-server.ts';

const name = 'the daemon backend over a plain server';
const program = findPeer('hotcell-daemon/start.mjs');

if (program === undefined)
  peerOrSkip(false, 'hotcell-daemon in SBX_TEST_PEERS')(`conformance of ${name}`, () => undefined);
else {
  const { backend, close } = await plainServer(program);
  const create = async () => backend;
  describeConformance({ name, manifest, create, dispose: close, lacks, timeout: 60_000 });
}
