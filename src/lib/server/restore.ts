/**
 * Puts a backup into a workspace, whole or not at all: unpacked into a folder beside what is there, then exchanged inside the
 * sandbox by a program that outlives us. What is on its way stands in the database, so that a server or a sandbox
 * that ends meanwhile goes on with it, or takes it back, when the sandbox runs again.
 */
import type { Call, Sandbox } from '../backend/contract.ts';
import { runGuest } from '../backend/derived/run-guest.ts';
import { need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import lockScript from '../guest/lock.sh';
import outliveScript from '../guest/outlive.sh';
import swapScript from '../guest/workspace-swap.sh';
import { randomHex } from '../util/random-id.ts';
import { type Backups, WORKSPACE } from './backups.ts';
import type { Daemon } from './daemon.ts';
import type { Use } from './fleet.ts';
import { items } from './store/items.ts';

/** What is on its way: to be unpacked still, or ready to be put in place. */
interface Journey {
  readonly stage: string;
  readonly step: 'unpacking' | 'moving';
}

export interface Restores {
  /** @throws SbxError when it cannot be done: then the workspace is as it was. */
  restore(use: Pick<Use, 'record' | 'sandbox'>, backupId: string, call: Call): Promise<void>;
  /** Brings to its end what was cut off in a sandbox that runs again. */
  finish(id: string, sandbox: Sandbox, call: Call): Promise<void>;
}

/** How long taking back may take, in milliseconds: whoever asked may be gone. */
const TIDY_MS = 10_000;

export function openRestores(
  { db, having }: Pick<Daemon, 'db' | 'having'>,
  { turns, read }: Pick<Backups, 'turns' | 'read'>,
): Restores {
  const journeys = items<Journey>(db, 'restore');
  const end = async (id: string, sandbox: Sandbox, { stage, step }: Journey, call: Call) => {
    await swap(sandbox, stage, step === 'moving' ? 'commit' : 'discard', call);
    journeys.remove(id, stage);
  };
  return {
    restore: ({ record: { id }, sandbox }, backupId, call) =>
      turns.run(id, async () => {
        const archive = need(sandbox, 'archive', having);
        const journey: Journey = { stage: `.sbx-restore-${randomHex(6)}`, step: 'unpacking' };
        const { stage } = journey;
        journeys.put(id, stage, journey);
        try {
          await swap(sandbox, stage, 'stage', call);
          const tar = read(backupId);
          try {
            await archive.write(`${WORKSPACE}/${stage}/new`, tar, { owner: 'keep', steady: true }, call);
          } finally {
            tar.destroy();
          }
        } catch (error) {
          // What cannot be taken back now is when the sandbox runs again.
          await end(id, sandbox, journey, { signal: AbortSignal.timeout(TIDY_MS) }).catch(() => undefined);
          throw readable(error);
        }
        const moving: Journey = { stage, step: 'moving' };
        journeys.put(id, stage, moving);
        // From here on it is done, whoever goes.
        await end(id, sandbox, moving, { signal: new AbortController().signal });
      }),
    async finish(id, sandbox, call) {
      if (journeys.list(id).length === 0) return;
      await turns.run(id, async () => {
        for (const journey of journeys.list(id)) await end(id, sandbox, journey, call);
      });
    },
  };
}

async function swap(
  sandbox: Sandbox,
  stage: string,
  what: 'stage' | 'commit' | 'discard',
  call: Call,
): Promise<void> {
  const program = `${lockScript}\n${swapScript}`;
  const args = [program, WORKSPACE, stage, what];
  const { stderr, exit } = await runGuest(sandbox, 'sbx-restore', outliveScript, args, call);
  if ('code' in exit && exit.code === 0) return;
  const why = stderr.trim().split('\n').at(-1)?.slice(0, 500) || 'its shell gave no answer';
  throw new SbxError('failed', `sandbox '${sandbox.name}' cannot have its workspace restored: ${why}`);
}

/** A file that cannot be unpacked is a fault of the backup, not of the request. */
function readable(error: unknown): unknown {
  if (error instanceof SbxError || !(error instanceof Error)) return error;
  return new SbxError('failed', `the backup cannot be read: ${error.message}`, { cause: error });
}
