import { dockerWith } from './docker-engine.ts';
import { describeConformance } from './index.ts';

/** What is left where client and engine share no folder. */
const { backend, unavailable } = await dockerWith({ image: 'sbx-test/busybox', pipes: false });

describeConformance({
  name: 'the docker backend by the engine alone',
  manifest: backend.manifest,
  create: async () => backend,
  unavailable,
  otherUser: { user: 'nobody', uid: 65_534 },
  lacks: ['exit signals', 'ipv6', 'python3', 'dtach'],
  topics: [
    'streams of a command',
    'arguments and exit codes',
    'environment, workdir and user',
    'signals',
    'ending a command',
    'background processes',
  ],
  timeout: 30_000,
});
