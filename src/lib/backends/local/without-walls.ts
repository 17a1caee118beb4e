/** `--isolation none`: a sandbox without walls is a folder of its own, and commands that run on this machine as its user. */
import { statSync } from 'node:fs';
import type { CreateSpec, DialTarget, Sandbox } from '../../backend/contract.ts';
import { lazyPorts } from '../../backend/derived/index.ts';
import type { CapabilityName, Manifest } from '../../backend/manifest.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { runningInit } from './exec.ts';
import { sandboxLayout } from './layout.ts';
import { manifest } from './manifest.ts';
import { commonCapabilities, handleOf, type Ref } from './sandbox.ts';

const CANNOT: readonly CapabilityName[] = ['suspend', 'fork', 'snapshots', 'diff', 'stats'];
const CANNOT_HONOUR = ['rootfs', 'snapshot', 'limits', 'network', 'user', 'hostname'];

/** What such a sandbox can do of what the backend can. */
export const manifestWithoutWalls: Manifest = {
  ...manifest,
  capabilities: Object.fromEntries(
    Object.entries(manifest.capabilities).filter(([name]) => !CANNOT.some((each) => each === name)),
  ),
  createOptions: manifest.createOptions.filter(
    (option) => !CANNOT_HONOUR.includes(option.split('.', 1)[0] ?? ''),
  ),
};

/** The spec as such a sandbox is made from it. Refuses what needs walls, and says that there are none. */
export function planWithoutWalls(local: Local, spec: CreateSpec): CreateSpec {
  const refused = Object.entries({
    '--rootfs': spec.rootfs,
    '--from': spec.snapshot,
    '--user': spec.user,
    '--hostname': spec.hostname,
    [`--network ${spec.network}`]: spec.network === 'host' ? undefined : spec.network,
    '--cpus': spec.limits.cpus,
    '--memory': spec.limits.memory,
    '--pids': spec.limits.pids,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (refused.length > 0) {
    throw new SbxError('unsupported', `--isolation none cannot honour ${refused.join(', ')}`, {
      backend: local.name,
      hint: 'leave that out, or leave --isolation out',
    });
  }
  if (
    spec.workdir !== undefined &&
    statSync(spec.workdir, { throwIfNoEntry: false })?.isDirectory() !== true
  ) {
    throw new SbxError('failed', `there is no folder ${spec.workdir} on this machine`, {
      backend: local.name,
      hint: 'with --isolation none the workdir is a folder of this machine; left out, the sandbox has one of its own',
    });
  }
  local.notice(
    'isolation: none; commands run on this machine as you, and can read and change all that you can',
  );
  return { ...spec, network: 'host' };
}

/** Opens such a sandbox; touches no file. */
export function openWithoutWalls(local: Local, ref: Ref): Sandbox {
  const files = sandboxLayout(local.layout, ref.id);
  const sandbox = handleOf(local, ref, async (spec) => {
    const { execWithoutWalls } = await import('./without-walls-exec.ts');
    return execWithoutWalls(local, sandbox.record(), spec);
  });
  const common = commonCapabilities(local, ref, sandbox);
  const dialer = async () => {
    const { hostDialer } = await import('./host-dialer.ts');
    runningInit(local, sandbox.record(), files.init);
    return hostDialer;
  };
  const ports = lazyPorts(sandbox, () => ({ ownedOnly: true }));
  return Object.assign(sandbox, {
    limitation: 'it was made with --isolation none',
    can: {
      ...common,
      ports: {
        async list(call) {
          const { markedProcesses } = await import('./marked.ts');
          const listed = await ports.list(call);
          const own = new Set(markedProcesses(ref.id));
          return listed.filter(({ pid }) => pid !== undefined && own.has(pid));
        },
      },
      dial: async (target: DialTarget, call) => (await dialer()).dial(target, call),
      listen: async (target, onConnection, call) => (await dialer()).listen(target, onConnection, call),
    } satisfies Sandbox['can'],
  });
}
