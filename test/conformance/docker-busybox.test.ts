import { dockerWith, lacking } from './docker-engine.ts';
import { describeConformance } from './index.ts';

const { backend, unavailable } = await dockerWith({ image: 'sbx-test/busybox', pipes: true });

describeConformance({
  name: 'the docker backend with busybox',
  manifest: backend.manifest,
  create: async () => backend,
  unavailable,
  otherUser: { user: 'nobody', uid: 65_534 },
  lacks: [...lacking, 'python3', 'dtach'],
  timeout: 60_000,
});
