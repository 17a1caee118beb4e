/** Brings a sandbox to life: namespaces, mounts and its init process. Whatever dies on the way, nothing stays. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureBase } from './base.ts';
import { TOOLS_FOLDER } from './base-folders.ts';
import { emptyParts, withoutSubmounts } from './host-folders.ts';
import { writeIdentity } from './identity.ts';
import idleScript from './idle.sh';
import { onlyThese } from './inherited.ts';
import initScript from './init.sh';
import {
  currentBootId,
  type InitProcess,
  type ProcessMark,
  startTicksOf,
  writeInit,
} from './init-process.ts';
import { DROP_PRIVILEGES, helperArgv, joinCgroups, userNamespace } from './join.ts';
import { type Layout, sandboxLayout } from './layout.ts';
import { ensureUppers, mountSteps } from './mounts.ts';
import { connectNetwork, loopbackUp, type NetworkPlan } from './network.ts';
import type { SandboxRecord } from './record.ts';
import { killHelper, killPid } from './shut-down.ts';
import stageScript from './stage.sh';
import { HELPER, SYSTEM_ENV } from './system.ts';
import { mapIds } from './uid-map.ts';

const run = promisify(execFile);

export interface StartOptions {
  readonly network: NetworkPlan;
  /** cgroup folders that are there already. */
  readonly cgroups: readonly string[];
  /** The backend's name, for errors. */
  readonly backend: string;
}

/** Starts the sandbox of `record`. Call with its lock held. Rejects with all of it gone again. */
export async function startNamespaces(
  layout: Layout,
  record: SandboxRecord,
  options: StartOptions,
  call: Call,
): Promise<InitProcess> {
  const files = sandboxLayout(layout, record.id);
  call.onStep?.("looking at this machine's files");
  const base = await ensureBase(layout);
  call.onStep?.('starting the sandbox');
  ensureUppers(layout, record);
  ensureGuestFolder(files.guest);
  writeIdentity(files.identity, record, options.network);
  const root = layout.mount;
  fs.mkdirSync(root, { recursive: true, mode: 0o700 });
  const table = join(files.folder, 'fstab');
  for (const [index, step] of mountSteps(layout, record, base, root).entries()) {
    fs.writeFileSync(`${table}.${index + 1}`, step.fstab, { mode: 0o600 });
    fs.writeFileSync(`${table}.${index + 1}.places`, step.places, { mode: 0o600 });
  }
  const stage = startStage(layout, root, table, record, options);
  let pid: number | undefined;
  const helpers: ProcessMark[] = [];
  try {
    const stagePid = await stage.hear('stage');
    call.signal.throwIfAborted();
    const keepsGroups = mapIds(stagePid);
    stage.say('mapped');
    pid = await stage.hear('init');
    call.signal.throwIfAborted();
    await pivot(pid, root, keepsGroups);
    if (options.network.mode !== 'host') await loopbackUp(pid, keepsGroups);
    if (options.network.mode === 'private') {
      call.onStep?.('connecting the network');
      helpers.push(await connectNetwork(pid, options.network, files.networkPid));
    }
    const init: InitProcess = {
      pid,
      startTicks: startTicksOf(pid) ?? '',
      bootId: currentBootId(),
      startedAt: new Date().toISOString(),
      network: options.network.mode,
      base,
      keepsGroups,
      emptyParts: emptyParts(layout, record),
      cgroups: options.cgroups,
      paused: false,
      helpers,
    };
    writeInit(files.init, init);
    fs.rmSync(files.networkPid, { force: true });
    stage.say('go');
    return init;
  } catch (error) {
    // Without its client every stage ends by itself; the init process and its helpers are told.
    if (pid !== undefined) killPid(pid);
    for (const helper of helpers) killHelper(helper);
    fs.rmSync(files.init, { force: true });
    throw call.signal.aborted
      ? new SbxError('interrupted', 'interrupted', { cause: error })
      : stage.explain(error, options.backend);
  } finally {
    stage.close();
    for (const step of [1, 2, 3])
      for (const end of ['', '.places']) fs.rmSync(`${table}.${step}${end}`, { force: true });
  }
}

/** Every user of the sandbox keeps its processes' records there, so it is open to all, as /tmp is. */
function ensureGuestFolder(path: string): void {
  const processes = join(path, 'processes');
  fs.mkdirSync(path, { recursive: true, mode: 0o755 });
  // The sandbox owns what is in there: a link in its place leads anywhere on this machine.
  if (fs.lstatSync(processes, { throwIfNoEntry: false })?.isDirectory() !== true) {
    fs.rmSync(processes, { force: true });
    fs.mkdirSync(processes);
  }
  fs.chmodSync(processes, 0o1777);
}

interface Stage {
  /** Waits for the line `WORD PID`. */
  hear(word: string): Promise<number>;
  say(word: string): void;
  close(): void;
  /** Makes an error of what the stage wrote on its stderr. */
  explain(error: unknown, backend: string): SbxError;
}

const COMPLAINT_LIMIT = 4096;
const NO_NAMESPACES =
  'see why: sbx doctor; on another backend: sbx backend add; without any walls: sbx create --isolation none';

/** This machine's shell without links, which would not lead to the same file below the tools' folder. */
function systemShell(): string[] {
  const path = fs.realpathSync('/bin/sh');
  return path.endsWith('/busybox') ? [path, 'sh'] : [path];
}

function startStage(
  layout: Layout,
  root: string,
  table: string,
  record: SandboxRecord,
  options: StartOptions,
): Stage {
  const namespaces = ['--user', '--keep-caps', '--ipc', '--uts', '--mount'];
  if (options.network.mode !== 'host') namespaces.push('--net');
  if (options.cgroups.length > 0) namespaces.push('--cgroup');
  const unshare: [string, ...string[]] = [
    'unshare',
    ...namespaces,
    '--',
    '/bin/sh',
    '-c',
    stageScript,
    'sbx-stage',
    root,
    table,
    record.hostname,
    TOOLS_FOLDER,
    ...systemShell(),
  ];
  const [file, ...args] = joinCgroups(options.cgroups, withoutSubmounts(layout, record, unshare));
  const child: ChildProcess = spawn(file, args, {
    ...HELPER,
    cwd: layout.layers,
    env: { ...SYSTEM_ENV, SBX_INIT: initScript, SBX_IDLE: idleScript, SBX_DROP: DROP_PRIVILEGES.join(' ') },
    stdio: onlyThese(['ignore', 'ignore', 'pipe', 'pipe']),
  });
  let complaint = '';
  child.stderr?.on('data', (data: Buffer) => {
    if (complaint.length < COMPLAINT_LIMIT) complaint += data.toString('utf8');
  });
  const control = child.stdio[3] as Duplex;
  const lines = createInterface({ input: control });
  const iterator = lines[Symbol.asyncIterator]();
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  // Whoever listens gets it; when nobody does any more, it is no crash.
  failed.catch(() => undefined);
  control.on('error', () => lines.close());
  return {
    async hear(word) {
      const { value, done } = await Promise.race([iterator.next(), failed]);
      const pid = done === true ? undefined : new RegExp(`^${word} (\\d+)$`).exec(value)?.[1];
      if (pid === undefined) throw new Error(`the stage ended before '${word}'`);
      return Number(pid);
    },
    say: (word) => void control.write(`${word}\n`),
    close() {
      lines.close();
      control.end();
      child.stderr?.destroy();
      child.unref();
    },
    explain(error, backend) {
      if (error instanceof SbxError) return error;
      // `mount` adds a line that only says where to look for more.
      const said = complaint
        .trim()
        .split('\n')
        .find((line) => !line.includes('dmesg(1)'));
      return new SbxError(
        'failed',
        `cannot make a sandbox on this machine: ${said || String((error as Error).message)}`,
        {
          backend,
          hint:
            said?.startsWith('unshare: ') || hasErrno(error, 'ENOENT')
              ? NO_NAMESPACES
              : 'see what is missing: sbx doctor',
          cause: error,
        },
      );
    },
  };
}

/** Changes the root of the waiting init process; nothing of the sandbox runs yet. */
async function pivot(pid: number, root: string, keepsGroups: boolean): Promise<void> {
  const script = 'cd "$1" && pivot_root . mnt';
  await run(
    'nsenter',
    [
      '-t',
      String(pid),
      ...userNamespace(keepsGroups),
      '-m',
      '--',
      '/bin/sh',
      '-c',
      script,
      'sbx-pivot',
      root,
    ],
    { env: SYSTEM_ENV },
  );
  const [file, ...args] = helperArgv({ pid, keepsGroups }, [
    'umount',
    '--no-canonicalize',
    '-l',
    `/proc/${pid}/root/mnt`,
  ]);
  await run(file, args, { env: SYSTEM_ENV });
}
