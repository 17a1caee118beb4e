import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { manifestWithoutWalls as manifest } from '../../src/lib/backends/local/without-walls.ts';
import { describeConformance } from './index.ts';

const state = await mkdtemp(`${tmpdir()}/sbx-no-walls-`);
const local = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });
const { prune = async () => [] } = local.can;
const create: Backend['create'] = (spec, ...rest) => local.create({ ...spec, isolation: 'none' }, ...rest);

describeConformance({
  name: 'the local backend without walls',
  manifest,
  create: async () => ({ ...local, manifest, create, can: { prune } }),
  dispose: () => rm(state, { recursive: true, force: true }),
  onThisMachine: true,
  lacks: ['new workdir', 'own root'],
});
