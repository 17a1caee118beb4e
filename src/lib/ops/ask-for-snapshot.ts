/** Which snapshot a command means where none is named. */
import type { Call } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { ageOf } from '../util/duration.ts';
import { formatSize } from '../util/size.ts';
import { facts, pick } from './pick.ts';
import type { ResolveContext } from './resolve-sandbox.ts';
import { listSnapshots, type OwnedSnapshot } from './snapshot.ts';

/** Where to look, and what the command is called. */
export interface AskForSnapshot {
  /** The start of the command line, to which the snapshot is added, such as `snapshot rm`. */
  readonly command: string;
  /** Only those of this backend. Default: that of `--backend`, else all. */
  readonly backend?: string;
}

/** Lets somebody choose. @throws SbxError `usage` when nobody can be asked; `not_found` when there is none */
export function askForSnapshot(
  context: ResolveContext,
  { command, backend = context.settings.backend }: AskForSnapshot,
  call: Call,
): Promise<OwnedSnapshot> {
  return pick(context, {
    message: 'Which snapshot?',
    async items() {
      const { snapshots, failures } = await listSnapshots(await context.backends(), backend, call);
      for (const failure of failures)
        context.logger.warn(`backend '${failure.backend}' could not be asked: ${failure.error.message}`);
      return snapshots;
    },
    choice: (snapshot) => ({
      name: snapshot.name ?? snapshot.id,
      description: described(snapshot, context.clock.now()),
    }),
    missing: new SbxError('usage', 'no snapshot is named', {
      hint: `sbx ${command} SNAPSHOT; see them: sbx snapshot ls`,
    }),
    none: new SbxError('not_found', 'there is no snapshot', {
      hint: 'take one: sbx snapshot create SANDBOX',
    }),
  });
}

function described({ name, id, createdAt, sandbox, size, backend }: OwnedSnapshot, now: Date): string {
  return facts(
    name === undefined ? undefined : id,
    ageOf(createdAt, now),
    sandbox === undefined ? undefined : `of ${sandbox}`,
    size === undefined ? undefined : formatSize(size),
    backend,
  );
}
