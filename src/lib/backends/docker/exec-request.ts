/** What guest/exec-piped.sh is told of a command: text for its shell. */
import type { ExecSpec } from '../../backend/contract.ts';
import { isEnvName } from '../../util/env-file.ts';
import { quoteArgv, quoteWord } from '../../util/shell-quote.ts';

export interface PipedSpec extends ExecSpec {
  /** Absolute. */
  readonly workdir: string;
}

/** The request; undefined for what cannot be said in a shell. */
export function requestText(mark: string, { argv, env = {}, workdir, stdin }: PipedSpec): string | undefined {
  const late = Object.entries(env);
  const text = [
    `SBX_MARK=${mark}`,
    `SBX_INPUT=${stdin === 'pipe' ? 'data' : 'none'}`,
    `SBX_LATE=${quoteWord(late.map(([name]) => name).join(' '))}`,
    ...late.map(([name, value]) => `SBX_LATE_${name}=${quoteWord(value)}`),
    `set -- ${quoteArgv([workdir, ...argv])}`,
    '',
  ].join('\n');
  return late.every(([name]) => isEnvName(name)) && !text.includes('\0') ? text : undefined;
}
