/**
 * Sessions, made from exec: dtach inside the sandbox keeps each, and small programs beside it its records. What comes
 * back from the sandbox is checked by the parsers in guest/.
 */
import { hasErrno, SbxError } from '../../errors.ts';
import lockScript from '../../guest/lock.sh';
import commonScript from '../../guest/session-common.sh';
import createScript from '../../guest/session-create.sh';
import killScript from '../../guest/session-kill.sh';
import listScript from '../../guest/session-list.sh';
import pythonText from '../../guest/session-python.sh';
import recordingScript from '../../guest/session-recording.sh';
import { withoutLastWords } from '../../guest/session-recording.ts';
import renameScript from '../../guest/session-rename.sh';
import superviseScript from '../../guest/session-supervise.sh';
import surroundingsScript from '../../guest/session-surroundings.sh';
import { isSessionName, parseSessionList, parseSurroundings } from '../../guest/sessions.ts';
import { randomHex } from '../../util/random-id.ts';
import type { Call, Exit, SessionInfo, SessionSpec, Sessions, TerminalSize } from '../contract.ts';
import { type ExecSandbox, type GuestResult, refuseNoShell, runGuest } from './run-guest.ts';
import { deriveAttach } from './session-attach.ts';
import {
  badSessionName,
  brokenOff,
  noSessionKeeper,
  sessionEnded,
  sessionTaken,
  unknownSession,
} from './session-errors.ts';

const TAKEN = 10;
const NO_FOLDER = 12;
const NO_DTACH = 13;
const NOT_FOUND = 10;
const ENDED = 11;
const NAME_TAKEN = 11;

const DEFAULT_SIZE: TerminalSize = { cols: 80, rows: 24 };
const DEFAULT_TERM = 'xterm-256color';
/** Time between HUP and KILL, in tenths of a second; TERM comes half way. */
const GRACE_TENTHS = 20;

/** The `sessions` capability of a sandbox that has exec. */
export function deriveSessions(sandbox: ExecSandbox): Sessions {
  const run = async (
    name: string,
    script: string,
    args: readonly string[],
    call: Call,
    options: Parameters<typeof runGuest>[5] = {},
  ): Promise<GuestResult> => {
    const text = `${commonScript}\n${lockScript}\n${script}`;
    try {
      const result = await runGuest(sandbox, `sbx-session-${name}`, text, args, call, options);
      refuseNoShell(sandbox, result.exit);
      return result;
    } catch (error) {
      if (call.signal.aborted || !hasErrno(error, 'ERR_STREAM_PREMATURE_CLOSE')) throw error;
      throw brokenOff(sandbox.name, error);
    }
  };
  const list = async (call: Call, only = ''): Promise<SessionInfo[]> => {
    const mark = newMark();
    const { stdout, stderr, exit } = await run('list', listScript, [mark, only], call);
    if (codeOf(exit) !== 0) throw failed(sandbox, 'list its sessions', stderr);
    return parseSessionList(stdout, mark);
  };
  const refuseUnknown = (name: string) => {
    if (!isSessionName(name)) throw unknownSession(sandbox.name, name);
  };
  return {
    async create(spec, call) {
      if (!isSessionName(spec.name)) throw badSessionName(spec.name);
      const { name, user, workdir } = spec;
      const { stdout, stderr, exit } = await run('create', createScript, createArguments(spec), call, {
        env: { ...spec.env, TERM: spec.term ?? DEFAULT_TERM, SBX_SESSION_PYTHON: pythonText },
        user,
        workdir,
      });
      const code = codeOf(exit);
      if (code === TAKEN) throw sessionTaken(sandbox.name, name);
      if (code === NO_DTACH) throw noSessionKeeper(sandbox.name, sandbox.backend);
      if (code !== 0) throw failed(sandbox, `start session '${name}'`, stderr, code === NO_FOLDER);
      const [info] = await list(call, name);
      if (info !== undefined) return info;
      if (!stdout.toString('latin1').startsWith('running ')) throw failed(sandbox, `start session '${name}'`);
      return { name, state: 'ended' };
    },
    list: (call) => list(call),
    async kill(name, call) {
      refuseUnknown(name);
      const args = [name, String(GRACE_TENTHS)];
      const { stderr, exit } = await run('kill', killScript, args, call);
      const code = codeOf(exit);
      if (code === NOT_FOUND) throw unknownSession(sandbox.name, name);
      if (code !== 0) throw failed(sandbox, `end session '${name}'`, stderr);
    },
    async rename(name, to, call) {
      refuseUnknown(name);
      if (!isSessionName(to)) throw badSessionName(to);
      const { stderr, exit } = await run('rename', renameScript, [name, to], call);
      const code = codeOf(exit);
      if (code === NOT_FOUND) throw unknownSession(sandbox.name, name);
      if (code === NAME_TAKEN) throw sessionTaken(sandbox.name, to);
      if (code !== 0) throw failed(sandbox, `rename session '${name}'`, stderr);
    },
    async attach(name, options, call) {
      refuseUnknown(name);
      return await deriveAttach(sandbox, name, options, call);
    },
    async recording(name, bytes, call) {
      refuseUnknown(name);
      const limit = Math.max(bytes, 1);
      const args = [name, String(bytes)];
      const { stdout, stderr, exit } = await run('recording', recordingScript, args, call, { limit });
      if (codeOf(exit) === NOT_FOUND) throw unknownSession(sandbox.name, name);
      if (codeOf(exit) !== 0) throw failed(sandbox, `read the recording of session '${name}'`, stderr);
      return withoutLastWords(stdout);
    },
    async surroundings(name, call) {
      refuseUnknown(name);
      const mark = newMark();
      const { stdout, stderr, exit } = await run('surroundings', surroundingsScript, [name, mark], call);
      if (codeOf(exit) === NOT_FOUND) throw unknownSession(sandbox.name, name);
      if (codeOf(exit) === ENDED) throw sessionEnded(sandbox.name, name);
      const found = codeOf(exit) === 0 ? parseSurroundings(stdout, mark) : undefined;
      if (found === undefined) throw failed(sandbox, `tell where session '${name}' is`, stderr);
      return found;
    },
  };
}

function createArguments({ name, argv, size = DEFAULT_SIZE }: SessionSpec): string[] {
  const id = randomHex(8);
  return [superviseScript, name, id, String(size.rows), String(size.cols), ...(argv ?? [])];
}

function newMark(): string {
  return `sbx-${randomHex(16)}`;
}

function codeOf(exit: Exit): number | undefined {
  return 'code' in exit ? exit.code : undefined;
}

function failed(sandbox: ExecSandbox, what: string, stderr = '', noFolder = false): SbxError {
  const why = stderr.trim().split('\n').at(-1)?.slice(0, 500) || 'its shell gave no answer';
  return new SbxError('failed', `sandbox '${sandbox.name}' could not ${what}: ${why}`, {
    hint: noFolder ? 'make one of the two folders writable for the user' : undefined,
  });
}
