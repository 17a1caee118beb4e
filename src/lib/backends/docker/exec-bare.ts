/**
 * Commands in a container without /bin/sh: the engine runs them, and nobody watches. Whether a command can be run is
 * looked up beforehand, because the engine answers with 126 and a message on the command's own output.
 */
import { Readable, Writable } from 'node:stream';
import type { Call, ExecSpec, Exit, Running, TerminalSize } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import { type Box, notRunning } from './box.ts';
import { segment } from './engine.ts';
import { attach, inputOf, settled, workdirOf } from './exec.ts';
import { noControl } from './exec-control.ts';
import { exitOf } from './exec-exit.ts';
import { execOutput } from './exec-output.ts';
import { inspectExec, untilOver } from './exec-over.ts';
import { pathKind } from './path-stat.ts';
import { stateOf } from './power.ts';

const SHELL = '/bin/sh';
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What to do about a command that our shell did not start: run it without, where there is none. */
export async function insteadOf(
  box: Box,
  spec: ExecSpec,
  exec: string,
  said: string,
  call: Call,
): Promise<Running> {
  const { Running, Status } = await stateOf(box, call);
  if (Running !== true) throw notRunning(box, Status ?? '');
  const ended = await inspectExec(box.docker.engine, exec);
  if (ended !== undefined && (await pathKind(box, SHELL, call)) === undefined) {
    box.isBare = true;
    return execBare(box, spec, call);
  }
  const why = said.trim() || 'it said nothing';
  const user = spec.user ?? box.user;
  if (user !== undefined && !/^\d+(:\d+)?$/.test(user)) {
    throw new SbxError('failed', `cannot run a command as user '${user}' in sandbox '${box.name}': ${why}`, {
      backend: box.docker.name,
      hint: `see who there is: sbx exec --user 0 ${box.name} -- cat /etc/passwd`,
    });
  }
  throw new SbxError('failed', `cannot run ${SHELL} in sandbox '${box.name}': ${why}`, {
    backend: box.docker.name,
    hint: `see what state it is in: sbx info ${box.name}`,
  });
}

/** Runs `spec.argv` by the engine alone. */
export async function execBare(box: Box, spec: ExecSpec, call: Call): Promise<Running> {
  const workdir = workdirOf(box, spec.workdir);
  if ((await pathKind(box, workdir, call)) !== 'directory')
    return cannotRun(spec, 126, `cannot enter the workdir ${workdir}`);
  const path = spec.env?.PATH ?? (await containerPath(box, call));
  const kind = await commandKind(box, spec.argv[0], path, workdir, call);
  if (kind === undefined) return cannotRun(spec, 127, `${spec.argv[0]}: not found`);
  if (kind !== 'program') return cannotRun(spec, 126, `${spec.argv[0]}: cannot be run`);
  const { terminal } = spec;
  const env = terminal === undefined ? spec.env : { TERM: terminal.term ?? 'xterm-256color', ...spec.env };
  const body = {
    ...{ AttachStdin: spec.stdin === 'pipe', AttachStdout: true, AttachStderr: true },
    Tty: terminal !== undefined,
    User: spec.user ?? box.user,
    WorkingDir: workdir,
    Env: Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`),
    Cmd: spec.argv,
  };
  return follow(box, spec, await attach(box, body, call));
}

function follow(box: Box, spec: ExecSpec, { id, connection }: Awaited<ReturnType<typeof attach>>): Running {
  const { engine } = box.docker;
  const began = Date.now();
  let over = false;
  const refuse = async () => {
    if (!over) throw noControl(box.name, box.docker.name);
  };
  const terminal = spec.terminal !== undefined;
  const output = execOutput(connection, { terminal, mark: undefined, onReaderGone: () => undefined });
  const resize = async ({ rows, cols }: TerminalSize) => {
    if (over) return;
    const query = { h: rows, w: cols };
    const path = `/exec/${segment(id)}/resize`;
    await engine.json({ method: 'POST', path, query, what: 'resize the terminal' }, unhurried);
  };
  const stdin = spec.stdin === 'pipe' ? inputOf(connection) : undefined;
  const finished = (async (): Promise<Exit> => {
    try {
      const ended = await untilOver(engine, id, output);
      output.finish();
      const exit = await exitOf(box, ended, new Set(), began);
      await settled(output);
      return exit;
    } finally {
      over = true;
      output.finish();
      stdin?.destroy();
      connection.destroy();
    }
  })();
  // Whoever asks gets the failure; nobody asking is no crash.
  finished.catch(() => undefined);
  if (spec.terminal !== undefined) void resize(spec.terminal).catch(() => connection.destroy());
  return {
    ...(stdin === undefined ? {} : { stdin }),
    stdout: output.stdout,
    ...(output.stderr === undefined ? {} : { stderr: output.stderr }),
    signal: refuse,
    terminate: refuse,
    ...(terminal ? { resize } : {}),
    wait: () => finished,
  };
}

async function containerPath(box: Box, call: Call): Promise<string> {
  const path = `/containers/${segment(box.container)}/json`;
  const what = `look at sandbox '${box.name}'`;
  const { Config } = (await box.docker.engine.json({ method: 'GET', path, what }, call)) as Inspected;
  return Config.Env?.find((each) => each.startsWith('PATH='))?.slice('PATH='.length) ?? DEFAULT_PATH;
}

async function commandKind(box: Box, command: string, path: string, workdir: string, call: Call) {
  if (command.includes('/')) return pathKind(box, workdirOf({ workdir }, command), call);
  let found: Awaited<ReturnType<typeof pathKind>>;
  for (const folder of path.split(':')) {
    const kind = await pathKind(box, `${folder || workdir}/${command}`, call);
    if (kind === 'program') return kind;
    found ??= kind;
  }
  return found;
}

function cannotRun(spec: ExecSpec, code: number, message: string): Running {
  const line = Readable.from([Buffer.from(`sbx: ${message}\n`)], { objectMode: false });
  const empty = () => Readable.from([], { objectMode: false });
  const terminal = spec.terminal !== undefined;
  return {
    ...(spec.stdin === 'pipe' ? { stdin: new Writable({ write: (_chunk, _encoding, done) => done() }) } : {}),
    stdout: terminal ? line : empty(),
    ...(terminal ? {} : { stderr: line }),
    signal: async () => undefined,
    terminate: async () => undefined,
    wait: async () => ({ code }),
  };
}
