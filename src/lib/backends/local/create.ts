/** Making a local sandbox. Whatever goes wrong, nothing of it stays. */
import type { Call, CreateSpec, ForkOptions, Furnish, Sandbox } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';
import { randomName } from '../../util/name.ts';
import { capture } from './capture.ts';
import { changing, changingRecord, recover } from './change.ts';
import type { Local } from './context.ts';
import { eraseSandbox } from './erase.ts';
import { readInit } from './init-process.ts';
import { isolationOf } from './isolation.ts';
import { collectLayers, usingLayers } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { planNetwork } from './network.ts';
import { type StartSteps, startSandbox } from './power.ts';
import { type SandboxRecord, writeRecord } from './record.ts';
import { prepareRootfs } from './rootfs.ts';
import { findSnapshot } from './snapshots.ts';
import { ensureLayout, newId, takeName } from './store.ts';

const NAME_ATTEMPTS = 20;

type Source = Pick<
  SandboxRecord,
  'layers' | 'base' | 'rootfs' | 'rootfsSource' | 'snapshot' | 'env' | 'workdir' | 'user'
>;
const MACHINE: Source = { layers: {}, base: {}, env: {}, workdir: '/workspace' };

/** `create` of the contract. */
export async function create(
  local: Local,
  wanted: CreateSpec,
  call: Call,
  furnish?: Furnish,
): Promise<Sandbox> {
  if (process.platform !== 'linux') {
    throw new SbxError('unsupported', `the local backend needs Linux, this is ${process.platform}`, {
      backend: local.name,
      hint: 'use another backend: sbx backend ls',
    });
  }
  const isolation = isolationOf(wanted.isolation);
  const spec = isolation.plan(local, wanted);
  ensureLayout(local.layout);
  await recover(local);
  const plan = planNetwork(spec.network);
  const prepare = async (sandbox: Sandbox) => {
    if (isolation.hasOwnRoot && spec.user !== undefined) await checkUser(local, sandbox, spec.user);
    if (isolation.hasOwnRoot && spec.workdir !== undefined) await makeWorkdir(sandbox, spec.workdir, call);
    await furnish?.(sandbox);
  };
  const prepares = spec.workdir !== undefined || spec.user !== undefined || furnish !== undefined;
  const steps = { main: true, ...(prepares ? { prepare } : {}) };
  let sandbox: Sandbox;
  try {
    sandbox = await usingLayers(local, call, async () =>
      make(local, spec, await sourceOf(local, spec, call), steps, call),
    );
  } catch (error) {
    if (spec.rootfs !== undefined) await collectLayers(local, unhurried(), { dryRun: false });
    throw error;
  }
  if (plan.mode === 'host' && spec.network === undefined) {
    local.notice(
      "network: shared with this machine; for one of its own install 'slirp4netns' or say --network none",
    );
  }
  return sandbox;
}

/** For cleaning up, which Ctrl-C must not stop. */
function unhurried(): Call {
  return { signal: new AbortController().signal };
}

/** Refuses a user that the sandbox does not have, before every command of it fails. */
async function checkUser(local: Local, sandbox: Sandbox, user: string): Promise<void> {
  const { findUser } = await import('./users.ts');
  const init = readInit(sandboxLayout(local.layout, sandbox.id).init);
  if (init !== undefined) findUser(init.pid, user, sandbox.name);
}

/** Made when it is missing, as container engines do. */
async function makeWorkdir(sandbox: Sandbox, workdir: string, call: Call): Promise<void> {
  const { runGuest } = await import('../../backend/derived/run-guest.ts');
  const script = 'mkdir -p -- "$1"';
  const { exit, stderr } = await runGuest(sandbox, 'sbx-workdir', script, [workdir], call, {
    workdir: '/',
    user: 'root',
  });
  if (!('code' in exit) || exit.code !== 0) {
    throw new SbxError('failed', `cannot make the workdir ${workdir}: ${stderr.trim()}`, {
      backend: sandbox.backend,
    });
  }
}

/** A new sandbox with the present files of another one. */
export async function fork(
  local: Local,
  sandbox: { readonly id: string; readonly name: string },
  { name, labels, env = {} }: ForkOptions,
  call: Call,
): Promise<Sandbox> {
  await recover(local);
  return usingLayers(local, call, async () => {
    const { record, layers } = await changingRecord(local, sandbox, 'fork', call, async (present) => ({
      record: present,
      layers: await capture(local, present, call),
    }));
    const spec: CreateSpec = {
      name,
      env,
      labels: labels ?? record.labels,
      limits: record.limits,
      network: record.network,
      command: record.command,
    };
    return make(local, spec, { ...record, layers, base: layers }, { main: true }, call);
  });
}

async function sourceOf(local: Local, spec: CreateSpec, call: Call): Promise<Source> {
  if (spec.snapshot !== undefined) {
    const { layers, rootfs, rootfsSource, env, workdir, user, id } = findSnapshot(local, spec.snapshot);
    return { layers, base: layers, rootfs, rootfsSource, env, workdir, user, snapshot: id };
  }
  if (spec.rootfs === undefined) return MACHINE;
  const rootfs = await prepareRootfs(local, spec.rootfs, call);
  return { ...MACHINE, workdir: '/', rootfs, rootfsSource: spec.rootfs };
}

async function make(
  local: Local,
  spec: CreateSpec,
  source: Source,
  steps: StartSteps,
  call: Call,
): Promise<Sandbox> {
  const id = newId();
  return changing(local, id, 'creation', call, async () => {
    const files = sandboxLayout(local.layout, id);
    let record: SandboxRecord | undefined;
    try {
      ensureFolder(files.folder);
      record = await draft(local, id, spec, source, call);
      await startSandbox(local, record, call, steps);
      writeRecord(files.record, { ...record, phase: 'ready' });
      return isolationOf(record.isolation).open(local, record);
    } catch (error) {
      await eraseSandbox(local, id, record);
      throw error;
    }
  });
}

/** The record of a sandbox that is being made, with its name taken. */
async function draft(
  local: Local,
  id: string,
  spec: CreateSpec,
  source: Source,
  call: Call,
): Promise<SandboxRecord> {
  const { layers, base, rootfs, rootfsSource, snapshot } = source;
  const { isolation = 'namespaces' } = spec;
  const files = sandboxLayout(local.layout, id);
  const write = async (name: string): Promise<SandboxRecord> => {
    const record: SandboxRecord = {
      version: 1,
      id,
      name,
      phase: 'creating',
      createdAt: new Date().toISOString(),
      expiresAt: spec.ttl === undefined ? undefined : new Date(Date.now() + spec.ttl).toISOString(),
      labels: spec.labels,
      env: { ...source.env, ...spec.env },
      workdir: spec.workdir ?? isolationOf(isolation).workdir(files) ?? source.workdir,
      user: spec.user ?? source.user,
      hostname: spec.hostname ?? name.replaceAll(/[^A-Za-z0-9.-]/g, '-').slice(0, 63),
      network: spec.network,
      limits: spec.limits,
      command: spec.command,
      ...{ rootfs, rootfsSource, snapshot, layers, base },
      isolation,
    };
    // The record says which name is ours before it is, so that whoever cleans up after us gives it back.
    writeRecord(files.record, record);
    await takeName(local.layout, name, id, call, local.name);
    return record;
  };
  if (spec.name !== undefined) return write(spec.name);
  for (let attempt = 1; ; attempt++) {
    try {
      return await write(randomName());
    } catch (error) {
      if (attempt === NAME_ATTEMPTS || !(error instanceof SbxError) || error.code !== 'conflict') throw error;
    }
  }
}
