/** Runs a command of a memory sandbox as a host process in its own process group. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, writeSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { ExecSpec, Exit, Running } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { endMarked, sendSignal } from './host-processes.ts';
import { readUntilIdle } from './read-until-idle.ts';
import type { Box } from './state.ts';
import { lookUpUser } from './user.ts';

/** Marks each process of a sandbox and of a command, so that they are found wherever they went. */
export const SANDBOX_MARK = 'SBX_SANDBOX_MARK';
const EXEC_MARK = 'SBX_EXEC_ID';
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The folder of this machine in which commands of `box` start. */
export function workdirOf(box: Box): string {
  if (box.workdir === undefined) return box.folder;
  return isAbsolute(box.workdir) && existsSync(box.workdir) ? box.workdir : join(box.folder, box.workdir);
}

/** Starts `spec` in `box`. A command that cannot run is a command that exits 126 or 127. */
export async function execInBox(box: Box, spec: ExecSpec): Promise<Running> {
  if (spec.terminal !== undefined) {
    throw new SbxError('unsupported', `sandbox '${box.name}' gives no terminals`, { hint: 'use exec -T' });
  }
  const cwd = resolve(workdirOf(box), spec.workdir ?? '.');
  const why = await whyNotDirectory(cwd);
  if (why !== undefined) return failedToStart(spec, 126, `cannot change to directory ${cwd}: ${why}`);
  const user = spec.user ?? box.user;
  const ids = user === undefined ? {} : await lookUpUser(user);
  const execId = randomUUID();
  const [file, ...args] = spec.argv;
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd,
      ...ids,
      detached: true,
      env: {
        PATH,
        HOME: box.folder,
        LANG: 'C.UTF-8',
        ...box.env,
        ...spec.env,
        SBX_GUEST_DIR: resolve(box.folder, '.sbx'),
        [SANDBOX_MARK]: box.mark,
        [EXEC_MARK]: execId,
      },
      stdio: [
        spec.handOver?.stdin ?? (spec.stdin === 'pipe' ? 'pipe' : 'ignore'),
        spec.handOver?.stdout ?? 'pipe',
        spec.handOver?.stderr ?? 'pipe',
      ],
    });
    await once(child, 'spawn');
  } catch (error) {
    if (error instanceof Error && 'errno' in error) return cannotRun(spec, error);
    throw error;
  }
  return follow(child, execId);
}

function follow(child: ChildProcess, execId: string): Running {
  const exited = new Promise<Exit>((settle) => {
    child.once('exit', (code, signal) =>
      settle(signal === null ? { code: code ?? 0 } : { signal: signal.slice(3) }),
    );
  });
  const stdout = child.stdout === null ? undefined : readUntilIdle(child.stdout, exited);
  const stderr = child.stderr === null ? undefined : readUntilIdle(child.stderr, exited);
  // A command that reads no more is no failure; whoever writes sees it by the stream's close.
  child.stdin?.on('error', (error) => {
    if (!hasErrno(error, 'EPIPE', 'ECONNRESET')) throw error;
  });
  const done = Promise.all([exited, stdout?.done, stderr?.done]).then(([exit]) => exit);
  let ended = false;
  let ending: Promise<unknown> = Promise.resolve();
  void exited.then(() => {
    ended = true;
    child.stdin?.destroy();
  });
  return {
    ...(child.stdin === null ? {} : { stdin: child.stdin }),
    ...(stdout === undefined ? {} : { stdout: stdout.stream }),
    ...(stderr === undefined ? {} : { stderr: stderr.stream }),
    async signal(name) {
      if (!ended && child.pid !== undefined) sendSignal(-child.pid, `SIG${name}`);
    },
    async terminate(graceMs) {
      if (!ended && child.pid !== undefined) {
        sendSignal(-child.pid, graceMs > 0 ? 'SIGTERM' : 'SIGKILL');
        if (graceMs > 0) sendSignal(-child.pid, 'SIGCONT');
      }
      ending = Promise.all([ending, endMarked(EXEC_MARK, execId, graceMs)]);
    },
    async wait() {
      const exit = await done;
      await ending;
      return exit;
    },
  };
}

async function whyNotDirectory(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : 'not a directory';
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return 'no such file or directory';
    return error instanceof Error ? error.message : String(error);
  }
}

function cannotRun(spec: ExecSpec, error: Error): Running {
  const missing = hasErrno(error, 'ENOENT', 'ENOTDIR');
  const message = `${spec.argv[0]}: ${missing ? 'command not found' : error.message}`;
  return failedToStart(spec, missing ? 127 : 126, message);
}

function failedToStart(spec: ExecSpec, code: number, message: string): Running {
  const line = Buffer.from(`${message}\n`);
  if (spec.handOver?.stderr !== undefined) writeSync(spec.handOver.stderr, line);
  return {
    ...(spec.stdin === 'pipe' && spec.handOver?.stdin === undefined ? { stdin: nowhere() } : {}),
    ...(spec.handOver?.stdout === undefined ? { stdout: Readable.from([], { objectMode: false }) } : {}),
    ...(spec.handOver?.stderr === undefined ? { stderr: Readable.from([line], { objectMode: false }) } : {}),
    signal: async () => undefined,
    terminate: async () => undefined,
    wait: async () => ({ code }),
  };
}

/** Takes everything and keeps nothing. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
