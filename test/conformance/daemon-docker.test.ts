import { manifest } from '../../src/lib/backends/daemon/manifest.ts';
import { dockerWith, lacking } from './docker-engine.ts';
import { describeConformance } from './index.ts';
import { type ServingHere, servingHere } from './serving.ts';

const image = 'sbx-test/busybox';
const docker = await dockerWith({ image, pipes: true });
let serving: ServingHere;

describeConformance({
  name: 'the daemon backend over docker',
  manifest,
  async create() {
    serving = await servingHere({ open: () => docker.backend, image });
    return serving.backend;
  },
  dispose: () => serving.close(),
  unavailable: docker.unavailable,
  otherUser: { user: 'nobody', uid: 65_534 },
  lacks: [...lacking, 'python3', 'dtach', 'staying paused'],
  timeout: 60_000,
});
