/** What is at a path in a container, running or not, without a program inside. */
import type { Call, FileType } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';

/** Docker Engine API, "ContainerArchiveInfo": base64 of JSON; the mode has the bits of Go's os.FileMode. */
export interface PathStat {
  readonly name?: string;
  readonly size?: number;
  readonly mode?: number;
  readonly linkTarget?: string;
}

const DIRECTORY = 2 ** 31;
const SYMLINK = 2 ** 27;
/** Devices, pipes, sockets and what Go does not know. */
const IRREGULAR = [2 ** 26, 2 ** 25, 2 ** 24, 2 ** 21, 2 ** 19];
const EXECUTABLE = 0o111;
/** As many as the kernel follows. */
const MOST_LINKS = 40;

/** Kind of the thing at the absolute `path`, symlinks followed; undefined when there is none. */
export async function pathKind(
  box: Box,
  path: string,
  call: Call,
): Promise<'directory' | 'program' | 'other' | undefined> {
  let at = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const stat = await pathStat(box, at, call);
    if (stat === undefined) return undefined;
    const mode = stat.mode ?? 0;
    if (hasBit(mode, SYMLINK)) {
      // The engine tells where it leads from the root of the container.
      at = stat.linkTarget ?? '';
      if (at === '') return undefined;
      continue;
    }
    if (hasBit(mode, DIRECTORY)) return 'directory';
    return (mode & EXECUTABLE) === 0 ? 'other' : 'program';
  }
  return undefined;
}

/** What the engine tells of `path` itself; undefined when it is not there. */
export async function pathStat(box: Box, path: string, call: Call): Promise<PathStat | undefined> {
  try {
    const { headers, body } = await box.docker.engine.send(
      {
        method: 'HEAD',
        path: `/containers/${segment(box.container)}/archive`,
        query: { path },
        what: `look at ${path} in sandbox '${box.name}'`,
      },
      call,
    );
    body.resume();
    const header = headers['x-docker-container-path-stat'];
    if (typeof header !== 'string') return undefined;
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8')) as PathStat;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Its type. */
export function typeOf({ mode = 0 }: PathStat): FileType {
  if (hasBit(mode, DIRECTORY)) return 'directory';
  if (hasBit(mode, SYMLINK)) return 'symlink';
  return IRREGULAR.some((bit) => hasBit(mode, bit)) ? 'other' : 'file';
}

/** Go's file modes use the 32nd bit, which JavaScript takes for a sign. */
function hasBit(mode: number, bit: number): boolean {
  return Math.floor(mode / bit) % 2 === 1;
}
