/**
 * What a container shares with clients on its engine's machine, so that commands start without the engine: a folder, read-only
 * inside, in which a client puts FIFOs and requests (pipes-request.ts) for guest/exec-server.sh. Where the folder is of no use,
 * as behind a socket that leads to another machine, nobody inside reads the FIFO for requests, and commands go by the engine.
 */
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { commandServer } from '../../guest/exec.ts';
import { fileError } from '../../store/file-error.ts';
import { ensureFolder } from '../../store/folder.ts';
import { type FifoMaker, makeFifos } from '../../transport/fifo.ts';
import { addressText } from './address.ts';
import type { Inspected, Mount } from './api.ts';
import type { Docker } from './box.ts';
import { isSandboxId } from './facts.ts';

/** Where the folder is inside; idle.sh lets only root into the one above. */
export const INSIDE = '/var/lib/sbx/exec/pipes';
/** The FIFO that requests are announced in. */
const REQUESTS = 'requests';
/** The program for the container, without comments. */
const PROGRAM = 'serve';
const PROGRAM_TEXT = commandServer.replaceAll(/^ *#.*\n/gm, '');
/** Its path inside. */
export const PROGRAM_INSIDE = `${INSIDE}/${PROGRAM}`;
/** Which engine the container is of. */
const ENGINE = 'engine';
/** The folder of FIFOs for the commands of all sandboxes. */
const SPARE = 'spare';

const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;

type Sharing = Pick<Docker, 'shared' | 'env'>;

/** The folder of sandbox `id`, there or not; undefined where there is no place for it. */
export function pipesOf({ shared }: Sharing, id: string): string | undefined {
  return shared === undefined ? undefined : join(shared, id, 'pipes');
}

/** Opens what requests are announced in. Without waiting that works only where somebody reads; throws what the file system says, ENXIO for nobody. */
export function openRequests(folder: string): number {
  return openSync(join(folder, REQUESTS), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
}

/** Whether somebody inside reads the requests in `folder`. */
export function hasServer(folder: string): boolean {
  try {
    closeSync(openRequests(folder));
    return true;
  } catch (error) {
    refuseUnexpected(error);
    return false;
  }
}

/** For FIFOs that are made in such folders. */
export function fifoMaker({ shared = '', env }: Sharing): FifoMaker {
  return { spare: join(shared, SPARE), env };
}

/** Makes the folder for a new sandbox. @returns the mount for its container; undefined where none is to be had. */
export async function makePipes(docker: Docker, id: string): Promise<Mount | undefined> {
  const folder = pipesOf(docker, id);
  const address = await docker.engine.address();
  if (folder === undefined || address.kind !== 'socket') return undefined;
  try {
    fill(docker, folder, addressText(address));
  } catch (error) {
    removePipes(docker, id);
    refuseUnexpected(error);
    return undefined;
  }
  return { Type: 'bind', Source: folder, Target: INSIDE, ReadOnly: true };
}

/** To be called before a container starts again: without the folder it would not, and its program may be of an older sbx. */
export async function renewPipes(docker: Docker, id: string, { HostConfig }: Inspected): Promise<void> {
  const folder = pipesOf(docker, id);
  const { Mounts, Binds } = HostConfig;
  // Podman tells of it among the volumes.
  const isShared =
    Mounts?.some(({ Source }) => Source === folder) || Binds?.some((bind) => bind.startsWith(`${folder}:`));
  if (folder === undefined || isShared !== true) return;
  try {
    fill(docker, folder, addressText(await docker.engine.address()));
  } catch (error) {
    // The engine says what it lacks.
    refuseUnexpected(error);
  }
}

function fill(docker: Docker, folder: string, engine: string): void {
  ensureFolder(folder);
  writeFileSync(join(folder, '..', ENGINE), engine, { mode: 0o600 });
  writeFileSync(join(folder, PROGRAM), PROGRAM_TEXT, { mode: 0o600 });
  const path = join(folder, REQUESTS);
  if (!existsSync(path)) makeFifos([path], fifoMaker(docker));
}

/** Whether `error` is about the folder: the engine, or what runs its containers, cannot see it or may not. */
export function isAboutPipes(error: unknown, mount: Mount | undefined): boolean {
  return mount !== undefined && error instanceof SbxError && error.message.includes(mount.Source);
}

/** Removes the folder of a sandbox that is gone. */
export function removePipes(docker: Sharing, id: string | undefined): void {
  const folder = id === undefined ? undefined : pipesOf(docker, id);
  if (folder !== undefined) rmSync(dirname(folder), { recursive: true, force: true });
}

/** The ids for which a folder is there but no sandbox of this engine. @param present ids of all its sandboxes. @param before when it was made at the latest, in epoch milliseconds. */
export async function strayPipes(
  docker: Docker,
  present: ReadonlySet<string>,
  before: number,
): Promise<string[]> {
  const { shared, engine } = docker;
  if (shared === undefined) return [];
  const here = addressText(await engine.address());
  const isStray = (id: string) => {
    const made = statSync(join(shared, id, ENGINE), { throwIfNoEntry: false });
    return (
      made !== undefined && made.mtimeMs < before && readFileSync(join(shared, id, ENGINE), 'utf8') === here
    );
  };
  return namesIn(shared).filter((id) => isSandboxId(id) && !present.has(id) && isStray(id));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw fileError('cannot read', folder, error);
  }
}

/** What the file system refuses is no failure here: commands go by the engine. */
export function refuseUnexpected(error: unknown): void {
  const isFailure = error instanceof SbxError && error.code === 'failed';
  if (!isFailure && !(error instanceof Error && 'syscall' in error)) throw error;
}
