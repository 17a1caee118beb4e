/** What the suites of the docker backend share: an engine to talk to, and images of its own store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openEngine } from '../../src/lib/backends/docker/engine.ts';
import { openDockerBackend } from '../../src/lib/backends/docker/index.ts';
import { call, type Feature } from './harness.ts';

/** What no engine has; and Podman loses output of a command that leaves input unread. */
export const lacking: readonly Feature[] = [
  ...(['exit signals', 'ipv6'] as const),
  ...(process.env.SBX_TEST_ENGINE === 'podman' ? (['unread input'] as const) : []),
];

export interface DockerOptions {
  readonly image: string;
  /** Whether commands may start by pipes in a folder that the container shares; else all go by the engine. */
  readonly pipes: boolean;
  /** What sandboxes run under, the engine's choice by default. */
  readonly runtime?: string;
}

/** Opens the engine that SBX_TEST_DOCKER names, never a developer's own; `unavailable` says why there is none. */
export async function dockerWith({
  image,
  pipes,
  runtime,
}: DockerOptions): Promise<{ backend: Backend; unavailable: string | undefined }> {
  const host = process.env.SBX_TEST_DOCKER;
  const settings = { image, host: host ?? 'unix:///none' };
  const options = { name: 'docker', settings, env: process.env, notice: () => undefined };
  const shared = pipes && host !== undefined;
  const opened = openDockerBackend(shared ? { ...options, paths: { state: temporaryState() } } : options);
  const backend: Backend = {
    ...opened,
    create: (spec, ...more) => opened.create({ runtime, ...spec }, ...more),
  };
  if (host === undefined) return { backend, unavailable: 'a Docker engine, named by SBX_TEST_DOCKER' };
  const broken = (await backend.check(call)).find(({ status }) => status === 'failed');
  if (broken !== undefined || runtime === undefined || (await runtimesOf(settings)).includes(runtime))
    return { backend, unavailable: broken?.detail };
  return { backend, unavailable: `an engine with the runtime ${runtime}` };
}

async function runtimesOf(settings: Record<string, string>): Promise<string[]> {
  const engine = openEngine({ backend: 'docker', settings, env: {} });
  const info = await engine.json({ method: 'GET', path: '/info', what: 'ask for its runtimes' }, call);
  return Object.keys((info as { Runtimes?: object }).Runtimes ?? {});
}

function temporaryState(): string {
  const state = mkdtempSync(join(tmpdir(), 'sbx-docker-'));
  afterAll(() => rmSync(state, { recursive: true }));
  return state;
}
