/**
 * The smallest whole backend: the example of docs/adding-a-backend.md, held to the conformance suite so that it cannot rot.
 * Required members only; everything else is made from exec. The host processes of the memory backend play the service that
 * a real backend would talk to, and {@link Box} is what that service knows of one sandbox.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, Call, CreateSpec, Sandbox, SandboxInfo } from '../../src/lib/backend/contract.ts';
import {
  lazyArchive,
  lazyDial,
  lazyFiles,
  lazyPorts,
  lazyProcesses,
  lazyStats,
} from '../../src/lib/backend/derived/index.ts';
import type { Manifest } from '../../src/lib/backend/manifest.ts';
import { noSandbox } from '../../src/lib/backend/no-sandbox.ts';
import { execInBox, SANDBOX_MARK, workdirOf } from '../../src/lib/backends/memory/exec.ts';
import { endMarked } from '../../src/lib/backends/memory/host-processes.ts';
import type { Box } from '../../src/lib/backends/memory/state.ts';
import { SbxError } from '../../src/lib/errors.ts';

/** What it can do, as data. `capabilities` names each field of `can`, no more and no less. */
export const manifest: Manifest = {
  type: 'example',
  title: 'The example of docs/adding-a-backend.md',
  capabilities: {
    archive: 'derived',
    dial: 'derived',
    files: 'derived',
    ports: 'derived',
    processes: 'derived',
    stats: 'derived',
  },
  createOptions: ['name', 'env', 'labels', 'workdir', 'user'],
  limits: {},
  config: [],
};

/** Opens the backend under a configured name; does nothing costly before it is used. */
export function openExampleBackend(name: string): Backend {
  const boxes = new Map<string, Box>();
  const find = (ref: string) => boxes.get(ref) ?? [...boxes.values()].find((box) => box.name === ref);
  const remove = async (box: Box) => {
    box.gone = true;
    boxes.delete(box.id);
    await endMarked(SANDBOX_MARK, box.mark, 0);
    await rm(box.folder, { recursive: true, force: true });
  };
  return {
    name,
    manifest,
    async create(spec, call, furnish) {
      refuseIfGivenUp(call);
      const id = randomUUID();
      const box = boxOf(id, { ...spec, name: spec.name ?? `example-${id.slice(0, 8)}` });
      if (find(box.name) !== undefined) {
        const hint = `choose another name, or remove it: sbx rm ${box.name}`;
        throw new SbxError('conflict', `there is a sandbox '${box.name}' already`, { backend: name, hint });
      }
      boxes.set(id, box);
      await mkdir(workdirOf(box), { recursive: true });
      try {
        await furnish?.(sandboxOf(name, box));
      } catch (error) {
        await remove(box);
        throw error;
      }
      return sandboxOf(name, box);
    },
    async get(ref) {
      return sandboxOf(name, find(ref) ?? missing(name, ref));
    },
    async *list({ labels = {} }) {
      for (const box of boxes.values()) {
        const fits = Object.entries(labels).every(
          ([key, value]) => key in box.labels && (value === '' || box.labels[key] === value),
        );
        if (fits) yield infoOf(name, box);
      }
    },
    async destroy(ref, { force }) {
      const box = find(ref);
      if (box === undefined) {
        if (force) return;
        missing(name, ref);
      }
      if (!force) {
        const hint = `sbx rm --force ${box.name}`;
        throw new SbxError('conflict', `sandbox '${box.name}' is running`, { backend: name, hint });
      }
      await remove(box);
    },
    check: async () => [{ name: 'service', status: 'ok', detail: 'processes of this machine' }],
    can: {},
  };
}

function sandboxOf(backend: string, box: Box): Sandbox {
  const handle = {
    id: box.id,
    name: box.name,
    backend,
    async info() {
      return box.gone ? missing(backend, box.name) : infoOf(backend, box);
    },
    async exec(spec, call) {
      refuseIfGivenUp(call);
      if (box.gone) missing(backend, box.name);
      const running = await execInBox(box, spec);
      // It was removed while the command started.
      if (box.gone) await running.terminate(0);
      return running;
    },
  } satisfies Omit<Sandbox, 'can'>;
  return {
    ...handle,
    can: {
      archive: lazyArchive(handle),
      dial: lazyDial(handle),
      files: lazyFiles(handle),
      ports: lazyPorts(handle, () => ({ ownedOnly: true })),
      processes: lazyProcesses(handle),
      stats: lazyStats(handle, () => ({ network: false })),
    },
  };
}

function infoOf(backend: string, { id, name, createdAt, labels, workdir }: Box): SandboxInfo {
  return { id, name, backend, state: 'running', createdAt, labels, workdir };
}

function missing(backend: string, ref: string): never {
  throw noSandbox(ref, backend);
}

function refuseIfGivenUp({ signal }: Call): void {
  if (signal.aborted) throw new SbxError('interrupted', 'interrupted');
}

function boxOf(id: string, spec: CreateSpec & { readonly name: string }): Box {
  const { name, env, labels, workdir, user } = spec;
  return {
    ...{ id, name, env, labels, workdir, user, mark: id, gone: false },
    folder: join(tmpdir(), `sbx-example-${id}`),
    state: 'running',
    createdAt: new Date().toISOString(),
    ...{
      startedAt: undefined,
      expiresAt: undefined,
      expiry: undefined,
      snapshot: undefined,
      command: undefined,
    },
  };
}
