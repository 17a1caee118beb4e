/** `exec` in a sandbox without walls: the command is a child of this process, and runs as its user. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { ExecSpec, Running } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { startCommand } from './command.ts';
import type { Local } from './context.ts';
import { commandOf, isEnding, resolveWorkdir, runningInit } from './exec.ts';
import { openPipes } from './fifo.ts';
import { isRunning } from './init-process.ts';
import { GUEST_PATH } from './join.ts';
import { sandboxLayout } from './layout.ts';
import { MARK } from './marked.ts';
import type { SandboxRecord } from './record.ts';

/** Starts a command; `conflict` when the sandbox does not run. */
export async function execWithoutWalls(
  local: Local,
  record: SandboxRecord,
  spec: ExecSpec,
): Promise<Running> {
  const files = sandboxLayout(local.layout, record.id);
  const init = runningInit(local, record, files.init);
  const starting = existsSync(files.unsettled);
  const user = ownUser();
  if (spec.user !== undefined && ![user.username, String(user.uid)].includes(spec.user))
    throw new SbxError(
      'unsupported',
      `sandbox '${record.name}' has no walls, so all runs as ${user.username}`,
      {
        backend: local.name,
        hint: 'leave --user out',
      },
    );
  const { argv, env } = await commandOf(spec);
  const lives = () => isRunning(init) && (starting || !isEnding(files));
  const running = await startCommand(
    { ...spec, argv },
    {
      sandbox: record.name,
      backend: local.name,
      workdir: resolveWorkdir(record.workdir, spec.workdir),
      env: {
        PATH: GUEST_PATH,
        HOME: files.home,
        USER: user.username,
        LOGNAME: user.username,
        SHELL: user.shell ?? '/bin/sh',
        LANG: 'C.UTF-8',
        ...env,
        ...record.env,
        ...spec.env,
        SBX_GUEST_DIR: files.guest,
        [MARK]: record.id,
      },
      openPipes: (names) => openPipes(files.pipes, names),
      isRunning: lives,
    },
  );
  // Whoever stopped the sandbox meanwhile may have looked for its processes before this one was there.
  if (!lives()) await running.terminate(0);
  return running;
}

function ownUser(): { readonly username: string; readonly uid: number; readonly shell?: string | null } {
  try {
    return userInfo();
  } catch (error) {
    const uid = process.geteuid?.() ?? 0;
    // A container may run as a user that it does not list.
    if (hasErrno(error, 'ERR_SYSTEM_ERROR', 'ENOENT')) return { username: String(uid), uid };
    throw error;
  }
}
