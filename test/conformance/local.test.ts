import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { call } from './harness.ts';
import { describeConformance } from './index.ts';

const state = await mkdtemp(join(tmpdir(), 'sbx-local-'));
const backend = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });
const broken = (await backend.check(call)).find(({ status }) => status === 'failed');

describeConformance({
  name: 'the local backend',
  manifest: backend.manifest,
  create: async () => backend,
  dispose: () => rm(state, { recursive: true, force: true }),
  unavailable: broken?.detail,
  onThisMachine: true,
  otherUser: process.getuid?.() === 0 ? { user: 'nobody', uid: 65_534 } : undefined,
});
