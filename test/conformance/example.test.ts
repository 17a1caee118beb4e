import { manifest, openExampleBackend } from './example-backend.ts';
import { describeConformance } from './index.ts';

describeConformance({
  name: 'the example backend',
  manifest,
  create: async () => openExampleBackend('example'),
  onThisMachine: true,
  otherUser: process.getuid?.() === 0 ? { user: 'nobody', uid: 65_534 } : undefined,
  lacks: ['device paths', 'own root'],
});
