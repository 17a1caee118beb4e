/** A backend for tests: real host processes in temporary folders, all state in memory, no wall of any kind. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, Sandbox, SandboxCapabilities } from '../../backend/contract.ts';
import type { Manifest } from '../../backend/manifest.ts';
import { createBox, destroyBox, findBox, infoOf } from './boxes.ts';
import { checkCall } from './check-call.ts';
import { deriveAll } from './derived.ts';
import { manifestWith, memoryManifest } from './manifest.ts';
import { sandboxOf } from './sandbox.ts';
import { snapshotStore } from './snapshots.ts';
import type { MemoryState } from './state.ts';

export interface MemoryBackendOptions {
  /** The configured name; default `memory`. */
  readonly name?: string | undefined;
  /** What its sandboxes have besides the native capabilities. Default: all that can be made from exec. */
  readonly derived?: {
    readonly of: (sandbox: Sandbox) => SandboxCapabilities;
    readonly capabilities: Manifest['capabilities'];
  };
}

/** A memory backend owns processes and a folder until it is disposed. */
export interface MemoryBackend extends Backend {
  /** Ends every process and removes every file. */
  dispose(): Promise<void>;
}

/** Makes an empty memory backend. */
export function createMemoryBackend(options: MemoryBackendOptions = {}): MemoryBackend {
  let folder: string | undefined;
  const state: MemoryState = {
    backend: options.name ?? 'memory',
    // Made when first used: one that stays empty need not be disposed.
    get root() {
      folder ??= mkdtempSync(join(tmpdir(), 'sbx-memory-'));
      return folder;
    },
    open: (box) => sandboxOf(state, box),
    boxes: new Map(),
    pictures: new Map(),
    derive: options.derived?.of ?? deriveAll,
    manifest: options.derived === undefined ? memoryManifest : manifestWith(options.derived.capabilities),
  };
  return {
    name: state.backend,
    manifest: state.manifest,
    async create(spec, call, furnish) {
      checkCall(call);
      return sandboxOf(state, await createBox(state, spec, call, furnish));
    },
    async get(ref, call) {
      checkCall(call);
      return sandboxOf(state, findBox(state, ref));
    },
    async *list(query, call) {
      for (const box of state.boxes.values()) {
        checkCall(call);
        if (!query.all && box.state !== 'running' && box.state !== 'paused') continue;
        const wanted = Object.entries(query.labels ?? {});
        if (
          wanted.every(([key, value]) => key in box.labels && (value === '' || box.labels[key] === value))
        ) {
          yield infoOf(state, box);
        }
      }
    },
    async destroy(ref, { force }, call) {
      checkCall(call);
      await destroyBox(state, ref, force);
    },
    check: async () => [{ name: 'memory', status: 'ok', detail: `files are kept in ${folder ?? tmpdir()}` }],
    can: {
      snapshots: snapshotStore(state),
      async prune(_options, call) {
        checkCall(call);
        return [];
      },
    },
    async dispose() {
      await Promise.all([...state.boxes.values()].map((box) => destroyBox(state, box.id, true)));
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
