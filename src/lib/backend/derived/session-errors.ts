/** What can be wrong about a session, in words. */
import { SbxError } from '../../errors.ts';

const NOT_FOUND = 10;
const ENDED = 11;

/** There is none of this name. */
export function unknownSession(sandbox: string, name: string): SbxError {
  return new SbxError('not_found', `there is no session '${name}' in sandbox '${sandbox}'`, {
    hint: `sbx sessions ${sandbox} --all`,
  });
}

/** It runs no more. */
export function sessionEnded(sandbox: string, name: string): SbxError {
  return new SbxError('conflict', `session '${name}' in sandbox '${sandbox}' has ended`, {
    hint: `start it anew: sbx sessions create ${sandbox} ${name}`,
  });
}

/** Another one has it. */
export function sessionTaken(sandbox: string, name: string): SbxError {
  return new SbxError('conflict', `a session '${name}' already runs in sandbox '${sandbox}'`, {
    hint: `sbx shell ${sandbox} --session ${name}`,
  });
}

/** It cannot name one. */
export function badSessionName(name: string): SbxError {
  return new SbxError(
    'usage',
    `${JSON.stringify(name)} cannot name a session: up to 64 letters, digits, '.', '_' and '-', and no '.' or '-' first`,
  );
}

/** It gave half an answer. */
export function brokenOff(sandbox: string, cause: unknown): SbxError {
  return new SbxError('conflict', `sandbox '${sandbox}' ended, or was lost, before it had answered`, {
    hint: `see whether it runs: sbx info ${sandbox}`,
    cause,
  });
}

/** The sandbox has no program that keeps sessions. */
export function noSessionKeeper(sandbox: string, backend: string): SbxError {
  return new SbxError('unsupported', `sandbox '${sandbox}' has no dtach, which keeps sessions`, {
    backend,
    hint: `sbx sessions install ${sandbox}, or make it with sbx create --setup 'apt-get update && apt-get install -y dtach'`,
  });
}

/** Why attaching did not come about, by the exit code and the words of session-attach.sh. Its lines with `mark` are for sbx. */
export function attachError(
  sandbox: string,
  name: string,
  code: number | undefined,
  text: string,
  mark: string,
): SbxError {
  if (code === NOT_FOUND) return unknownSession(sandbox, name);
  if (code === ENDED) return sessionEnded(sandbox, name);
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes(mark));
  const why = lines.at(-1)?.trim().slice(0, 300) || 'its shell gave no answer';
  return new SbxError('failed', `cannot attach to session '${name}' in sandbox '${sandbox}': ${why}`);
}
