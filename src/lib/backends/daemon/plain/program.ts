/**
 * What a plain server is asked to run. Variables and input are not in the text, which everybody inside sees as an argument, but in
 * the environment. guest/exec-text.sh, guest/exec-typed.sh.
 */
import type { ExecSpec, TerminalSize } from '../../../backend/contract.ts';
import { SbxError } from '../../../errors.ts';
import { commandWatch, textCommand, typedCommand } from '../../../guest/exec.ts';
import { isEnvName } from '../../../util/env-file.ts';
import { quoteArgv, quoteWord } from '../../../util/shell-quote.ts';

/** Shell text and its environment. */
export interface Program {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export type OutputName = 'out' | 'err';

/** Where a command's FIFOs are. */
const placeOf = (mark: string) => `/tmp/sbx-exec-${mark}`;

/** Seconds without {@link leaseOf} after which a command's client counts as gone. */
const PATIENCE = 60;

/** Runs the command of `spec`. @throws SbxError `usage` for names of variables that are none */
export function commandOf(mark: string, spec: ExecSpec, patience = PATIENCE): Program {
  return {
    command: `${argumentsOf(spec)}; eval "$SBX_EXEC"`,
    env: {
      SBX_EXEC: textCommand,
      SBX_INPUT: spec.stdin === 'pipe' ? 'data' : 'none',
      SBX_PATIENCE: String(patience),
      ...settingsOf(mark, spec.env),
    },
  };
}

const argumentsOf = ({ workdir = '.', argv }: ExecSpec) => `set -- ${quoteArgv([workdir, ...argv])}`;

function settingsOf(mark: string, env: ExecSpec['env'] = {}): Record<string, string> {
  const late = Object.entries(env);
  const wrong = late.find(([name]) => !isEnvName(name));
  if (wrong !== undefined) throw new SbxError('usage', `${JSON.stringify(wrong[0])} can name no variable`);
  return {
    SBX_MARK: mark,
    SBX_LATE: late.map(([name]) => name).join(' '),
    ...Object.fromEntries(late.map(([name, value]) => [`SBX_LATE_${name}`, value])),
  };
}

/** Bytes of one variable, as base64 without an end in the middle. */
const VARIABLE = 90 * 1024;
/** Most bytes of one {@link inputOf}: all variables together have a limit, too. */
export const INPUT_PIECE = 8 * VARIABLE;

/** Puts bytes into the command's input; fails when it reads no more. */
export function inputOf(mark: string, data: Buffer): Program {
  const place = placeOf(mark);
  const env: Record<string, string> = {};
  for (let at = 0; at < data.length; at += VARIABLE)
    env[`SBX_DATA_${at}`] = data.toString('base64', at, at + VARIABLE);
  const words = Object.keys(env).map((name) => `"$${name}"`);
  return {
    command: `[ -p ${place}/in ] && printf %s ${words.join('')} | base64 -d > ${place}/in`,
    env,
  };
}

/** Ends the command's input. */
export const inputEndOf = (mark: string): Program => ({
  command: `[ -p ${placeOf(mark)}/in.end ] && : > ${placeOf(mark)}/in.end`,
});

/** Lets another megabyte of an output come. */
export const moreOf = (mark: string, output: OutputName): Program => ({
  command: `[ -p ${placeOf(mark)}/${output}.more ] && echo > ${placeOf(mark)}/${output}.more`,
});

/** Reads no more of some outputs: their writers hear of it by SIGPIPE. */
export const closeOf = (mark: string, ...outputs: readonly OutputName[]): Program => ({
  command: `read -r sbx_out sbx_err < ${placeOf(mark)}/pids && kill ${outputs.map((each) => `$sbx_${each}`).join(' ')}`,
});

/** Says that the client is there. */
export const leaseOf = (mark: string): Program => ({
  command: `[ -d ${placeOf(mark)} ] && : > ${placeOf(mark)}/lease`,
});

/** A line of guest/exec-watch.sh as a program: a signal, or `terminate TENTHS`, which takes until all are gone. */
export function controlOf(mark: string, pid: number, line: string): Program {
  const [word = '', tenths] = line.split(' ');
  const act = word === 'terminate' ? `sbx_terminate ${tenths}` : `sbx_group ${word}`;
  return watching(mark, `sbx_self=${pid}; sbx_tell() { :; }; ${act}`);
}

/** Ends what carries the mark at once, for a command whose process is not known. */
export const endMarkedOf = (mark: string): Program => watching(mark, 'sbx_marked && kill -s KILL $sbx_pids');

const watching = (mark: string, act: string): Program => ({
  command: `eval "$SBX_EXEC"; ${act}`,
  env: { SBX_EXEC: commandWatch, SBX_MARK: mark },
});

/** Where the program of a command on a terminal is, until it has begun. */
const typedPlace = (mark: string) => `/tmp/sbx-typed-${mark}`;

/** Writes the program of a command on a terminal. */
export function typedOf(mark: string, spec: ExecSpec, size: TerminalSize, term = 'xterm-256color'): Program {
  const settings = {
    SBX_SIZE: `${size.rows} ${size.cols}`,
    ...settingsOf(mark, { TERM: term, ...spec.env }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${quoteWord(value)}\n`);
  return {
    command: `umask 077 && printf %s "$SBX_DATA" > ${typedPlace(mark)}`,
    env: { SBX_DATA: `${lines.join('')}${argumentsOf(spec)}\n${typedCommand}` },
  };
}

/** What is typed to have the shell become that program; short, for terminals that take short lines. */
export const typedLine = (mark: string) => ` exec /bin/sh ${typedPlace(mark)}\n`;

export const removeTypedOf = (mark: string): Program => ({ command: `rm -f ${typedPlace(mark)}` });
