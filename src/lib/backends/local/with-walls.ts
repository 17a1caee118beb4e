/** The handle of a sandbox in namespaces. What a verb does not use is not loaded. */
import type { DialTarget, Sandbox } from '../../backend/contract.ts';
import { lazyPorts } from '../../backend/derived/index.ts';
import type { Local } from './context.ts';
import { execLocal, runningInit } from './exec.ts';
import { readInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { commonCapabilities, handleOf, type Ref } from './sandbox.ts';

/** Opens such a sandbox; touches no file. */
export function openWithWalls(local: Local, ref: Ref): Sandbox {
  const files = sandboxLayout(local.layout, ref.id);
  const sandbox = handleOf(local, ref, (spec) => execLocal(local, ref, spec));
  const { record } = sandbox;
  const sharesNetwork = () => readInit(files.init)?.network === 'host';
  const dialer = async () => {
    const { openDialer } = await import('./dial.ts');
    return openDialer(runningInit(local, record(), files.init));
  };
  return Object.assign(sandbox, {
    can: {
      ...commonCapabilities(local, ref, sandbox),
      suspend: {
        pause: async (call) => (await import('./pause.ts')).pause(local, ref, call),
        resume: async (call) => (await import('./pause.ts')).resume(local, ref, call),
      },
      fork: async (options, call) => (await import('./create.ts')).fork(local, ref, options, call),
      snapshots: {
        create: async (options, call) =>
          (await import('./snapshots.ts')).createSnapshot(local, ref, options, call),
        restore: async (snapshot, call) =>
          (await import('./snapshots.ts')).restoreSnapshot(local, ref, snapshot, call),
      },
      async *diff({ since }) {
        yield* (await import('./diff.ts')).changes(local, record(), since);
      },
      ports: lazyPorts(sandbox, () => ({ ownedOnly: sharesNetwork(), user: 'root' })),
      dial: async (target: DialTarget, call) => (await dialer()).dial(target, call),
      listen: async (target, onConnection, call) => (await dialer()).listen(target, onConnection, call),
      async stats(call) {
        const { statsOf } = await import('./stats.ts');
        const present = record();
        return statsOf(sandbox, present, runningInit(local, present, files.init), call);
      },
    } satisfies Sandbox['can'],
  });
}
