/** `exec` in a local sandbox: the hot path, which loads nothing that it does not need. */
import { existsSync } from 'node:fs';
import type { ExecSpec, Running } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { startCommand } from './command.ts';
import type { Local } from './context.ts';
import { openPipes } from './fifo.ts';
import { isExpired } from './info.ts';
import { type InitProcess, isAlive, readInit } from './init-process.ts';
import { GUEST_PATH, joinArgv } from './join.ts';
import { type SandboxLayout, sandboxLayout } from './layout.ts';
import { isExiting } from './process-state.ts';
import type { SandboxRecord } from './record.ts';
import { readRecord, tryRecord } from './record.ts';
import { findUser } from './users.ts';

/** Starts a command; `conflict` when the sandbox does not run. */
export async function execLocal(
  local: Local,
  sandbox: { id: string; name: string },
  spec: ExecSpec,
): Promise<Running> {
  const files = sandboxLayout(local.layout, sandbox.id);
  const record = readRecord(files.record);
  if (record === undefined || record.phase === 'removing') {
    throw new SbxError('not_found', `sandbox '${sandbox.name}' is gone`, {
      backend: local.name,
      hint: 'sbx ls --all',
    });
  }
  const init = runningInit(local, record, files.init);
  // Its main command is started while it is still being started.
  const starting = existsSync(files.unsettled);
  const identity = findUser(init.pid, spec.user ?? record.user, record.name);
  const { argv, env: extra } = await commandOf(spec);
  return startCommand(
    { ...spec, argv },
    {
      sandbox: record.name,
      backend: local.name,
      workdir: resolveWorkdir(record.workdir, spec.workdir),
      env: {
        PATH: GUEST_PATH,
        HOME: identity.home,
        USER: identity.name,
        LOGNAME: identity.name,
        SHELL: identity.shell,
        LANG: 'C.UTF-8',
        ...extra,
        ...record.env,
        ...spec.env,
      },
      join: (words) =>
        joinArgv(
          {
            pid: init.pid,
            keepsGroups: init.keepsGroups,
            ownNetwork: init.network !== 'host',
            ownCgroupNamespace: init.cgroups.length > 0,
            cgroups: init.cgroups,
            identity: identity.uid === 0 && identity.gid === 0 ? undefined : identity,
          },
          words,
        ),
      openPipes: (names) => openPipes(files.pipes, names),
      isRunning: () => isAlive(init) && !isExiting(init.pid) && (starting || !isEnding(files)),
    },
  );
}

/** The kernel ends init last, so its processes are gone a moment before it is. */
export function isEnding(files: SandboxLayout): boolean {
  if (existsSync(files.unsettled)) return true;
  const record = tryRecord(files.record);
  return record !== undefined && !(record instanceof SbxError) && isExpired(record);
}

/** The init process of a sandbox that can take commands now. */
export function runningInit(local: Local, record: SandboxRecord, path: string): InitProcess {
  const init = isExpired(record) ? undefined : readInit(path);
  if (init === undefined) {
    throw new SbxError('conflict', `sandbox '${record.name}' is not running`, {
      backend: local.name,
      hint: `start it: sbx start ${record.name}`,
    });
  }
  if (init.paused) {
    throw new SbxError('conflict', `sandbox '${record.name}' is paused`, {
      backend: local.name,
      hint: `resume it: sbx resume ${record.name}`,
    });
  }
  return init;
}

/** The command itself, or the one that runs it on a terminal, with the variables that this needs. */
export async function commandOf(
  spec: ExecSpec,
): Promise<{ argv: ExecSpec['argv']; env: Record<string, string> }> {
  if (spec.terminal === undefined) return { argv: spec.argv, env: {} };
  const { terminalCommand } = await import('../../guest/terminal.ts');
  const command = terminalCommand(spec.argv, spec.terminal);
  return { argv: command.argv, env: { ...command.env, TERM: spec.terminal.term ?? 'xterm-256color' } };
}

/** Where a command starts: `workdir`, which may be relative to the sandbox's own. */
export function resolveWorkdir(base: string, workdir: string | undefined): string {
  if (workdir === undefined) return base;
  return workdir.startsWith('/') ? workdir : `${base.replace(/\/$/, '')}/${workdir}`;
}
