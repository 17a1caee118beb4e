import { createMemoryBackend } from '../../src/lib/backends/memory/index.ts';
import { describeConformance } from './index.ts';

const backend = createMemoryBackend();

describeConformance({
  name: 'the memory backend',
  manifest: backend.manifest,
  create: async () => backend,
  dispose: () => backend.dispose(),
  onThisMachine: true,
  otherUser: process.getuid?.() === 0 ? { user: 'nobody', uid: 65_534 } : undefined,
  lacks: ['device paths', 'own root'],
});
