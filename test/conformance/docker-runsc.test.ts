import { dockerWith, lacking } from './docker-engine.ts';
import { describeConformance, type Feature } from './index.ts';

const { backend, unavailable } = await dockerWith({
  image: 'sbx-test/debian-dtach',
  pipes: false,
  runtime: 'runsc',
});
/** The kernel of gVisor, as Debian 12 has it, does not have these. */
const unknown = ['signal masks', 'working folders', 'window changes', 'orphaned groups'] satisfies Feature[];

describeConformance({
  name: 'the docker backend with gVisor',
  manifest: backend.manifest,
  create: async () => backend,
  unavailable,
  otherUser: { user: 'nobody', uid: 65_534 },
  lacks: [...lacking, 'memory per command', ...unknown],
  timeout: 30_000,
});
