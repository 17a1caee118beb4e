/** Which shell is meant, and its script. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../../errors.ts';
import type { CommandTable } from '../command-class.ts';
import type { Env } from '../context.ts';
import { SHELLS, type Shell } from './answer.ts';

const FILES: Readonly<Record<Shell, string>> = {
  bash: 'sbx.bash',
  zsh: '_sbx',
  fish: 'sbx.fish',
  powershell: 'sbx.ps1',
};

/** The script for a shell, as the package has it. */
export function scriptOf(shell: Shell, { root }: CommandTable): string {
  return readFileSync(join(root, 'completions', FILES[shell]), 'utf8');
}

/**
 * The shell that was named, else the one that started us, else `$SHELL`.
 * @param parent name of the process that started us
 * @throws SbxError `usage` when it is none of those that there are scripts for.
 */
export function shellOf(named: string | undefined, env: Env, parent: string | undefined): Shell {
  if (named !== undefined) return known(named) ?? refuse(`there is no completion for ${named}`);
  const login = env.SHELL?.split('/').at(-1);
  return known(parent) ?? known(login) ?? refuse('it is not known which shell this is');
}

function known(name: string | undefined): Shell | undefined {
  const plain = name?.replace(/^-/, '').replace(/^pwsh(-preview)?$/, 'powershell');
  return SHELLS.find((shell) => shell === plain);
}

function refuse(message: string): never {
  throw new SbxError('usage', message, { hint: `name one of: ${SHELLS.join(', ')}` });
}

/** The name of the process that started us, where the system tells. */
export function parentName(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim();
  } catch {
    // No /proc here, or the parent has ended: $SHELL has to do.
    return undefined;
  }
}
