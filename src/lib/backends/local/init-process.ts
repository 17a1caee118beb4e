/** The init process of a running sandbox: which one it is, and whether it still is that one. */
import { readFileSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { readJsonFile, writeJsonFile } from '../../store/json-file.ts';

export interface InitProcess {
  readonly pid: number;
  /** Clock ticks after boot: a pid alone may be somebody else's by now. */
  readonly startTicks: string;
  readonly bootId: string;
  readonly startedAt: string;
  /** What the network became. */
  readonly network: 'private' | 'host' | 'none';
  /** The base layer below its parts. */
  readonly base: string;
  /** Whether the one user of the sandbox keeps the groups of its user on this machine: see uid-map.ts. */
  readonly keepsGroups: boolean;
  /** Parts that started without this machine's folder, see host-folders.ts. */
  readonly emptyParts: readonly string[];
  /** cgroup folders that every process of the sandbox joins. */
  readonly cgroups: readonly string[];
  readonly paused: boolean;
  /** The id that its processes carry in their environment, in a sandbox without walls; absent: they are in its pid namespace. */
  readonly mark?: string | undefined;
  /** Helpers on this machine that end with the sandbox: the network's, the one that keeps the time to live. */
  readonly helpers: readonly ProcessMark[];
}

/** A process on this machine that is told from a later one with the same pid. */
export interface ProcessMark {
  readonly pid: number;
  readonly startTicks: string;
  /** What a helper is there for, where it matters. */
  readonly role?: 'timer' | undefined;
  /** When a timer ends the sandbox. */
  readonly until?: string | undefined;
}

let bootId: string | undefined;

/** The kernel's id of this boot. */
export function currentBootId(): string {
  bootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return bootId;
}

/** When `pid` started, in clock ticks after boot; undefined when there is no such process or it is a zombie. */
export function startTicksOf(pid: number): string | undefined {
  try {
    // Node reads UTF-8 in half the time of Latin-1.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field holds the command's name, which may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/** The mark of a process that runs now. */
export function markOf(pid: number): ProcessMark | undefined {
  const startTicks = startTicksOf(pid);
  return startTicks === undefined ? undefined : { pid, startTicks };
}

/** Whether the marked process still runs. */
export function isAlive(mark: Pick<ProcessMark, 'pid' | 'startTicks'>): boolean {
  return startTicksOf(mark.pid) === mark.startTicks;
}

/** The init process that `path` names, if it runs. */
export function readInit(path: string): InitProcess | undefined {
  const init = readInitFile(path);
  return init !== undefined && isRunning(init) ? init : undefined;
}

/** Whether this init process runs. */
export function isRunning(init: Pick<InitProcess, 'pid' | 'startTicks' | 'bootId'>): boolean {
  return init.bootId === currentBootId() && isAlive(init);
}

/** The init process that `path` names, running or not; a broken file comes back as the error that names its path. */
export function tryInit(path: string): InitProcess | SbxError | undefined {
  try {
    return readInitFile(path);
  } catch (error) {
    if (error instanceof SbxError) return error;
    throw error;
  }
}

/** The last init process that `path` names, running or not, of this boot: its helpers and cgroups may be left. */
export function readLastInit(path: string): InitProcess | undefined {
  const init = readInitFile(path);
  return init?.bootId === currentBootId() ? init : undefined;
}

function readInitFile(path: string): InitProcess | undefined {
  try {
    return readJsonFile(path, validate);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    // Not moved away, as other files can be: stopping finds the processes without it.
    const hint = `stop what may run: sbx stop ${basename(dirname(path))}`;
    throw new SbxError(error.code, error.message, { hint, cause: error.cause });
  }
}

export function writeInit(path: string, init: InitProcess): void {
  writeJsonFile(path, init, { durable: false });
}

export function removeInit(path: string): void {
  rmSync(path, { force: true });
}

function validate(value: unknown): InitProcess {
  const init = value as Partial<InitProcess> | null;
  if (typeof init !== 'object' || init === null || !Number.isInteger(init.pid) || (init.pid ?? 0) < 2) {
    throw new Error('it does not name an init process');
  }
  if (typeof init.startTicks !== 'string' || !Array.isArray(init.cgroups) || !Array.isArray(init.helpers)) {
    throw new Error('a field of the init process is missing or of another kind');
  }
  return init as InitProcess;
}
