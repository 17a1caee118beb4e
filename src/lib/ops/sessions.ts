/** Sessions of a sandbox: which there are, ending them, getting what keeps them, and running a command where one is. */
import type { Call, ExecSpec, Sandbox, SessionInfo } from '../backend/contract.ts';
import { runGuest } from '../backend/derived/run-guest.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';

import { SbxError } from '../errors.ts';
import installScript from '../guest/session-install.sh';
import { isEnvName } from '../util/env-file.ts';
import { doEach, type Outcome } from './each.ts';

/** The sessions, the oldest first; without `all` those that run. */
export async function listSessions(
  sandbox: Sandbox,
  options: { readonly all: boolean; readonly having: CapabilityIndex },
  call: Call,
): Promise<SessionInfo[]> {
  const sessions = await need(sandbox, 'sessions', options.having).list(call);
  return sessions.filter(({ state }) => options.all || state === 'running');
}

/** Ends each; one that fails stops none of the others. */
export async function killSessions(
  sandbox: Sandbox,
  options: { readonly names: readonly string[]; readonly having: CapabilityIndex },
  call: Call,
): Promise<Outcome<string>[]> {
  const sessions = need(sandbox, 'sessions', options.having);
  return await doEach(
    options.names,
    async (name) => {
      await sessions.kill(name, call);
      return name;
    },
    call,
  );
}

/** Variables that say which session a process belongs to, and must not make a command one of it. */
const OWN_VARIABLES = ['SBX_SESSION_ID', 'SBX_EXEC_ID'];

/** `spec` with the working folder and environment of a session, where it says nothing itself. */
export async function inSession<Spec extends Pick<ExecSpec, 'env' | 'workdir'>>(
  sandbox: Sandbox,
  name: string,
  spec: Spec,
  having: CapabilityIndex,
  call: Call,
): Promise<Spec> {
  const { workdir, env } = await need(sandbox, 'sessions', having).surroundings(name, call);
  const inherited = Object.entries(env).filter(
    ([key]) => isEnvName(key) && !OWN_VARIABLES.includes(key) && spec.env?.[key] === undefined,
  );
  return {
    ...spec,
    workdir: inSessionFolder(workdir, spec.workdir),
    env: { ...Object.fromEntries(inherited), ...spec.env },
  };
}

function inSessionFolder(folder: string, given: string | undefined): string {
  if (given === undefined) return folder;
  return given.startsWith('/') ? given : `${folder.replace(/\/$/, '')}/${given}`;
}

/** What was there before is told from what has been installed. */
const WAS_THERE = 'present';

/**
 * Installs dtach with the sandbox's own package manager, as its root.
 * @returns whether it had to. @throws SbxError `unsupported` where there is no package manager, `failed` with its words
 */
export async function installKeeper(sandbox: Sandbox, call: Call): Promise<boolean> {
  const { stdout, stderr, exit } = await runGuest(sandbox, 'sbx-session-install', installScript, [], call, {
    user: 'root',
  });
  const code = 'code' in exit ? exit.code : undefined;
  if (code === 0) return stdout.toString('latin1').trim() !== WAS_THERE;
  if (code === 10) {
    throw new SbxError('unsupported', `sandbox '${sandbox.name}' has no package manager that is known`, {
      backend: sandbox.backend,
      hint: 'put dtach into its image, and script (util-linux) or python3, which record sessions',
    });
  }
  const why = stderr.trim().split('\n').at(-1)?.slice(0, 500) || 'its package manager failed';
  throw new SbxError('failed', `cannot install dtach in sandbox '${sandbox.name}': ${why}`, {
    backend: sandbox.backend,
    hint: `it needs the network: sbx exec ${sandbox.name} -- apt-get install -y dtach`,
  });
}
