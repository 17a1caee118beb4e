/** The handle of a memory sandbox and what it can do natively. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { addBox, destroyBox, fillBox, infoOf, missing, refuseTakenName, setExpiry } from './boxes.ts';
import { checkCall } from './check-call.ts';
import { execInBox, SANDBOX_MARK } from './exec.ts';
import { endMarked, findMarked, signalEach } from './host-processes.ts';
import { startMain } from './main-process.ts';
import { restorePicture, takePicture } from './snapshots.ts';
import type { Box, MemoryState } from './state.ts';

/** A handle; it stays valid through a rename and rejects with `not_found` once the sandbox is removed. */
export function sandboxOf(state: MemoryState, box: Box): Sandbox {
  const check = (call: Call) => {
    checkCall(call);
    if (box.gone) throw missing(state, box.name);
  };
  const sandbox: Sandbox = {
    id: box.id,
    get name() {
      return box.name;
    },
    backend: state.backend,
    async info(call) {
      check(call);
      return infoOf(state, box);
    },
    async exec(spec, call) {
      check(call);
      refuseUnless(box, 'running');
      const running = await execInBox(box, spec);
      // It was stopped, paused or removed while the command started, and this one was not seen.
      if (box.gone || box.state !== 'running') await running.terminate(0);
      return running;
    },
    can: {
      power: {
        async start(call) {
          check(call);
          if (box.state === 'running') return;
          refuseUnless(box, 'stopped');
          box.state = 'running';
          box.startedAt = new Date().toISOString();
          await startMain(state, box, call);
        },
        async stop({ graceMs }, call) {
          check(call);
          box.state = 'stopped';
          box.startedAt = undefined;
          await endMarked(SANDBOX_MARK, box.mark, graceMs);
        },
      },
      suspend: {
        async pause(call) {
          check(call);
          if (box.state === 'paused') return;
          refuseUnless(box, 'running');
          box.state = 'paused';
          await signalAll(box, 'SIGSTOP');
        },
        async resume(call) {
          check(call);
          if (box.state === 'running') return;
          refuseUnless(box, 'paused');
          await signalAll(box, 'SIGCONT');
          box.state = 'running';
        },
      },
      lifetime: {
        async extend(ms, call) {
          check(call);
          setExpiry(state, box, ms);
          return infoOf(state, box).expiresAt;
        },
      },
      async rename(name, call) {
        check(call);
        if (name === box.name) return;
        refuseTakenName(state, name);
        box.name = name;
      },
      async fork({ name, labels = box.labels, env = {} }, call) {
        check(call);
        const { snapshot, workdir, user, command } = box;
        const copy = addBox(state, {
          ...{ name, snapshot, labels, workdir, user, command },
          env: { ...box.env, ...env },
        });
        try {
          await fillBox(copy, box.folder);
          copy.state = 'running';
          await startMain(state, copy, call);
        } catch (error) {
          await destroyBox(state, copy.id, true);
          throw error;
        }
        return sandboxOf(state, copy);
      },
      snapshots: {
        async create(options, call) {
          check(call);
          return await takePicture(state, box, options);
        },
        async restore(ref, call) {
          check(call);
          await restorePicture(state, box, ref);
          if (box.state === 'running') await startMain(state, box, call);
        },
      },
      env: {
        async get(call) {
          check(call);
          return { ...box.env };
        },
        async update(changes, call) {
          check(call);
          const kept = Object.entries({ ...box.env, ...changes }).filter((entry) => entry[1] !== null);
          box.env = Object.fromEntries(kept) as Record<string, string>;
        },
      },
    },
  };
  Object.assign(sandbox.can, state.derive(sandbox));
  return sandbox;
}

function refuseUnless(box: Box, wanted: 'running' | 'stopped' | 'paused'): void {
  if (box.state === wanted) return;
  const verb = box.state === 'paused' ? 'resume' : 'start';
  throw new SbxError('conflict', `sandbox '${box.name}' is ${box.state}, not ${wanted}`, {
    hint: box.state === 'running' ? undefined : `sbx ${verb} ${box.name}`,
  });
}

/** Twice: a process that was born during the first look is found by the second. */
async function signalAll(box: Box, signal: NodeJS.Signals): Promise<void> {
  for (let round = 0; round < 2; round++) signalEach(await findMarked(SANDBOX_MARK, box.mark), signal);
}
