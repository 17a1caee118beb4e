/** What the suites of the docker backend share: an engine to talk to, and images of its own store. */
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openDockerBackend } from '../../src/lib/backends/docker/index.ts';
import { call } from './harness.ts';

/** Opens the engine that SBX_TEST_DOCKER names, never a developer's own; `unavailable` says why there is none. */
export async function dockerWith(
  image: string,
): Promise<{ backend: Backend; unavailable: string | undefined }> {
  const host = process.env.SBX_TEST_DOCKER;
  const settings = { image, host: host ?? 'unix:///none' };
  const backend = openDockerBackend({ name: 'docker', settings, env: {}, notice: () => undefined });
  if (host === undefined) return { backend, unavailable: 'a Docker engine, named by SBX_TEST_DOCKER' };
  const broken = (await backend.check(call)).find(({ status }) => status === 'failed');
  return { backend, unavailable: broken?.detail };
}
