import { dockerWith, lacking } from './docker-engine.ts';
import { describeConformance } from './index.ts';

const { backend, unavailable } = await dockerWith({ image: 'sbx-test/debian-dtach', pipes: true });

describeConformance({
  name: 'the docker backend with debian',
  manifest: backend.manifest,
  create: async () => backend,
  unavailable,
  otherUser: { user: 'nobody', uid: 65_534 },
  lacks: lacking,
  timeout: 60_000,
});
