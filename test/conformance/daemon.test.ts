import { describeConformance } from './index.ts';
import { servingHere } from './serving.ts';

const { backend, unavailable, close } = await servingHere();

describeConformance({
  name: 'the daemon backend over local',
  manifest: backend.manifest,
  create: async () => backend,
  dispose: close,
  unavailable,
  lacks: ['staying paused'],
  otherUser: process.getuid?.() === 0 ? { user: 'nobody', uid: 65_534 } : undefined,
});
