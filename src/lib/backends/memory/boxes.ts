/** Makes, finds and removes the sandboxes of a memory backend. */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Call, CreateOption, CreateSpec, Furnish, SandboxInfo } from '../../backend/contract.ts';
import { type GivenOption, refuseIgnoredOptions } from '../../backend/need.ts';
import { noSandbox } from '../../backend/no-sandbox.ts';
import { SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { checkCall } from './check-call.ts';
import { copyFolder } from './copy-folder.ts';
import { SANDBOX_MARK, workdirOf } from './exec.ts';
import { endMarked } from './host-processes.ts';
import { startMain } from './main-process.ts';
import { findPicture } from './snapshots.ts';
import type { Box, MemoryState } from './state.ts';

/** Longest delay that a timer takes. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Adds a sandbox that runs; leaves nothing behind when it fails. */
export async function createBox(
  state: MemoryState,
  spec: CreateSpec,
  call: Call,
  furnish?: Furnish,
): Promise<Box> {
  refuseIgnoredOptions(state.manifest, state.backend, givenOptions(spec));
  const picture = spec.snapshot === undefined ? undefined : findPicture(state, spec.snapshot);
  const box = addBox(state, {
    name: spec.name,
    snapshot: picture?.info.id,
    env: { ...picture?.env, ...spec.env },
    labels: spec.labels,
    workdir: spec.workdir ?? picture?.workdir,
    user: spec.user,
    command: spec.command,
  });
  try {
    await fillBox(box, picture?.folder);
    checkCall(call);
    box.state = 'running';
    await furnish?.(state.open(box));
    await startMain(state, box, call);
    if (spec.ttl !== undefined) setExpiry(state, box, spec.ttl);
    return box;
  } catch (error) {
    await removeBox(state, box);
    throw error;
  }
}

/** Takes a name at once, so that two creators never share one. `conflict` when it is taken. */
export function addBox(
  state: MemoryState,
  parts: Pick<Box, 'snapshot' | 'env' | 'labels' | 'workdir' | 'user' | 'command'> & {
    name: string | undefined;
  },
): Box {
  const id = randomHex(6);
  const now = new Date().toISOString();
  const name = parts.name ?? `memory-${id.slice(0, 8)}`;
  refuseTakenName(state, name);
  const box: Box = {
    ...parts,
    id,
    name,
    folder: join(state.root, id),
    mark: `${state.backend}-${id}`,
    state: 'creating',
    createdAt: now,
    startedAt: now,
    expiresAt: undefined,
    expiry: undefined,
    gone: false,
  };
  state.boxes.set(id, box);
  return box;
}

/** Makes a new sandbox's folder, from a copy of `source` where there is one. */
export async function fillBox(box: Box, source: string | undefined): Promise<void> {
  if (source === undefined) await mkdir(box.folder);
  else await copyFolder(source, box.folder);
  // There is no root of its own: a folder of this machine is used where there is one, else one is made inside.
  if (box.workdir !== undefined && !existsSync(box.workdir)) {
    await mkdir(workdirOf(box), { recursive: true });
  }
}

/** @throws SbxError `conflict` */
export function refuseTakenName(state: MemoryState, name: string): void {
  if ([...state.boxes.values()].some((box) => box.name === name)) {
    throw new SbxError('conflict', `a sandbox named '${name}' exists already`, {
      backend: state.backend,
      hint: `choose another name, or remove it: sbx rm ${name}`,
    });
  }
}

/** By name or id. @throws SbxError `not_found` */
export function findBox(state: MemoryState, ref: string): Box {
  const box = state.boxes.get(ref) ?? [...state.boxes.values()].find((each) => each.name === ref);
  if (box === undefined) throw missing(state, ref);
  return box;
}

/** The error for a sandbox that is not, or no longer, there. */
export function missing(state: MemoryState, ref: string): SbxError {
  return noSandbox(ref, state.backend);
}

/** Removes a sandbox; a missing one is no error with `force`. */
export async function destroyBox(state: MemoryState, ref: string, force: boolean): Promise<void> {
  let box: Box;
  try {
    box = findBox(state, ref);
  } catch (error) {
    if (force && error instanceof SbxError && error.code === 'not_found') return;
    throw error;
  }
  if (!force && box.state !== 'stopped') {
    throw new SbxError('conflict', `sandbox '${box.name}' is ${box.state}`, {
      backend: state.backend,
      hint: `stop it first, or: sbx rm --force ${box.name}`,
    });
  }
  await removeBox(state, box);
}

async function removeBox(state: MemoryState, box: Box): Promise<void> {
  box.gone = true;
  clearTimeout(box.expiry);
  await endMarked(SANDBOX_MARK, box.mark, 0);
  await rm(box.folder, { recursive: true, force: true });
  state.boxes.delete(box.id);
}

/** Sets when a sandbox is removed, `ms` from now; `undefined` for never. */
export function setExpiry(state: MemoryState, box: Box, ms: number | undefined): void {
  clearTimeout(box.expiry);
  box.expiresAt = ms === undefined ? undefined : Date.now() + ms;
  const arm = () => {
    if (box.expiresAt === undefined || box.gone) return;
    const left = box.expiresAt - Date.now();
    if (left <= 0) void removeBox(state, box);
    else box.expiry = setTimeout(arm, Math.min(left, LONGEST_TIMER)).unref();
  };
  arm();
}

/** All that is known of a sandbox. */
export function infoOf(state: MemoryState, box: Box): SandboxInfo {
  return {
    id: box.id,
    name: box.name,
    backend: state.backend,
    state: box.state,
    createdAt: box.createdAt,
    startedAt: box.startedAt,
    expiresAt: box.expiresAt === undefined ? undefined : new Date(box.expiresAt).toISOString(),
    snapshot: box.snapshot,
    labels: box.labels,
    workdir: box.workdir,
    user: box.user,
    command: box.command,
  };
}

function givenOptions(spec: CreateSpec): GivenOption[] {
  const { limits, ...rest } = spec;
  const given = Object.entries({ ...rest, ...limits }).filter(
    ([, value]) => value !== undefined && (typeof value !== 'object' || Object.keys(value).length > 0),
  );
  return given.map(([option]) => {
    const isLimit = Object.hasOwn(limits, option);
    return { option: (isLimit ? `limits.${option}` : option) as CreateOption, as: `--${option}` };
  });
}
