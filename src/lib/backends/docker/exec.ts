/**
 * Commands in a container. The engine attaches their streams and tells their exit code, and that is all: it has no
 * signals for them, leaves them running when their client goes, and answers with its own output where one cannot be
 * run. So guest/exec-attached.sh starts them, and a watcher listens on their input, or on a second command's. Where it can
 * be done, exec-piped.ts starts them without the engine.
 */
import type { Duplex, Writable } from 'node:stream';
import { Writable as WritableStream } from 'node:stream';
import type { Call, ExecSpec, Exit, Running, TerminalSize } from '../../backend/contract.ts';
import { execSignals } from '../../backend/exec-signals.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { attachedCommand } from '../../guest/exec.ts';
import { randomHex } from '../../util/random-id.ts';
import { type Box, missing, notRunning } from './box.ts';
import { segment } from './engine.ts';
import { type Control, startControl } from './exec-control.ts';
import { exitOf } from './exec-exit.ts';
import { type ExecOutput, execOutput } from './exec-output.ts';
import { untilOver } from './exec-over.ts';
import { execPiped } from './exec-piped.ts';
import { inspect } from './find.ts';
import { PROGRAM_INSIDE } from './pipes.ts';

/** Starts a command; `conflict` when the sandbox does not run. */
export async function execDocker(box: Box, spec: ExecSpec, call: Call): Promise<Running> {
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  if (box.isBare) return (await import('./exec-bare.ts')).execBare(box, spec, call);
  const piped = await execPiped(box, { ...spec, workdir: workdirOf(box, spec.workdir) }, call);
  if (piped !== undefined) return piped;
  const mark = randomHex(8);
  const { terminal } = spec;
  // Input that is not the command's own is free for our lines.
  const ownsInput = spec.stdin === 'pipe' || terminal !== undefined;
  const eager = ownsInput ? startControl(box.docker.engine, box.container, mark, undefined) : undefined;
  // Looked at below, unless the command itself could not be started either.
  eager?.catch(() => undefined);
  const attached = await attach(box, execBody(box, spec, mark, ownsInput), call).catch((error: unknown) => {
    // Its own failure has the same reason.
    eager?.then((control) => control.close()).catch(() => undefined);
    throw error;
  });
  const started = follow(box, spec, { ...attached, mark, eager }, call);
  const pid = await started.output.greeted;
  if (pid !== undefined) return started.running;
  // It never came to be, or not by our shell: how it ended is looked at below.
  await started.running.wait().catch(() => undefined);
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  return (await import('./exec-bare.ts')).insteadOf(box, spec, attached.id, started.output.stray(), call);
}

/** An exec of the engine, started. */
export interface Attached {
  readonly id: string;
  readonly connection: Duplex;
}

/** Makes an exec and starts it attached. `conflict` and `not_found` are about the sandbox. */
export async function attach(box: Box, body: object, call: Call): Promise<Attached> {
  const { engine } = box.docker;
  const what = `run a command in sandbox '${box.name}'`;
  try {
    const made = (await engine.json(
      { method: 'POST', path: `/containers/${segment(box.container)}/exec`, body, what },
      call,
    )) as { readonly Id: string };
    const Tty = 'Tty' in body && body.Tty === true;
    const path = `/exec/${segment(made.Id)}/start`;
    const connection = await engine.upgrade(
      { method: 'POST', path, body: { Detach: false, Tty }, what },
      call,
    );
    return { id: made.Id, connection };
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    if (error.code === 'not_found') throw missing(box.docker, box.name, error);
    // Podman has one status for a sandbox that does not run and for any other failure.
    if (error.code !== 'conflict' && error.code !== 'failed') throw error;
    const found = await inspect(engine, box.container, unhurried);
    if (found === undefined) throw missing(box.docker, box.name, error);
    const { Running, Status = '' } = found.State;
    if (error.code === 'conflict' || Running !== true) throw notRunning(box, Status, error);
    throw error;
  }
}

function execBody(box: Box, spec: ExecSpec, mark: string, ownsInput: boolean): object {
  const { terminal, env = {} } = spec;
  const given = terminal === undefined ? env : { TERM: terminal.term ?? 'xterm-256color', ...env };
  const late = Object.entries(given);
  return {
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: terminal !== undefined,
    // From API 1.42 on; before, the size is set by the program itself.
    ...(terminal === undefined ? {} : { ConsoleSize: [terminal.rows, terminal.cols] }),
    User: spec.user ?? box.user,
    // The program enters the workdir, and says so when it cannot.
    WorkingDir: '/',
    Env: [
      `SBX_EXEC=${attachedCommand}`,
      `SBX_MARK=${mark}`,
      `SBX_INPUT=${ownsInput ? 'data' : 'lines'}`,
      ...(box.isUnserved && terminal === undefined ? [`SBX_SERVE=${PROGRAM_INSIDE}`] : []),
      ...(terminal === undefined ? [] : [`SBX_SIZE=${terminal.rows} ${terminal.cols}`]),
      `SBX_LATE=${late.map(([name]) => name).join(' ')}`,
      ...late.map(([name, value]) => `SBX_LATE_${name}=${value}`),
    ],
    Cmd: ['/bin/sh', '-c', 'eval "$SBX_EXEC"', 'sbx-exec', workdirOf(box, spec.workdir), ...spec.argv],
  };
}

/** The absolute folder that `workdir` means in this sandbox. */
export function workdirOf(box: Pick<Box, 'workdir'>, workdir: string | undefined): string {
  if (workdir === undefined) return box.workdir;
  return workdir.startsWith('/') ? workdir : `${box.workdir.replace(/\/$/, '')}/${workdir}`;
}

interface Followed extends Attached {
  readonly mark: string;
  /** The watcher of a command that has its input for itself. */
  readonly eager: Promise<Control> | undefined;
}

function follow(
  box: Box,
  spec: ExecSpec,
  { id, connection, mark, eager }: Followed,
  call: Call,
): { readonly running: Running; readonly output: ExecOutput } {
  const { engine } = box.docker;
  const began = Date.now();
  let over = false;
  let watcher = eager;
  const onReaderGone = () => {
    void signals.signal('PIPE').catch(() => connection.destroy());
  };
  const output = execOutput(connection, { terminal: spec.terminal !== undefined, mark, onReaderGone });
  const giveUp = () => connection.destroy();
  call.signal.addEventListener('abort', giveUp, { once: true });
  void output.greeted.then((pid) => {
    call.signal.removeEventListener('abort', giveUp);
    // Whoever sends a signal hears why there is no watcher.
    if (pid !== undefined) eager?.then((control) => control.say(`main ${pid}`)).catch(() => undefined);
  });
  /** The watcher that answers; one that listens on the command's own input has no way to. */
  const control = async (): Promise<Control> => {
    watcher ??= startControl(engine, box.container, mark, await output.greeted);
    return watcher;
  };
  const signals = execSignals({
    async say(line) {
      await output.greeted;
      if (over) return;
      // Without setsid the watcher on the command's own input is of the command's group, and would be stopped with it.
      if (line === 'STOP' || watcher !== undefined) (await control()).say(line);
      else if (connection.writable) connection.write(`${line}\n`);
    },
    ask: async (line) => (await control()).say(line),
    gone: async () => (await watcher)?.gone,
  });
  const stdin = spec.stdin === 'pipe' ? inputOf(connection) : undefined;
  const finished = (async (): Promise<Exit> => {
    try {
      const ended = await untilOver(engine, id, output);
      output.finish();
      if (stdin !== undefined && connection.errored)
        await (await import('./exec-unread.ts')).tellOfUnreadInput(box);
      const exit = await exitOf(box, ended, signals.sent, began);
      await signals.leftoversGone();
      over = true;
      await settled(output);
      return exit;
    } finally {
      over = true;
      output.finish();
      stdin?.destroy();
      connection.destroy();
      // One that could not be started needs no end.
      void watcher?.then((each) => each.close()).catch(() => undefined);
    }
  })();
  // Whoever asks gets the failure; nobody asking is no crash.
  finished.catch(() => undefined);
  const running: Running = {
    ...(stdin === undefined ? {} : { stdin }),
    stdout: output.stdout,
    ...(output.stderr === undefined ? {} : { stderr: output.stderr }),
    signal: signals.signal,
    terminate: signals.terminate,
    ...(spec.terminal === undefined
      ? {}
      : {
          async resize({ rows, cols }: TerminalSize) {
            if (over) return;
            const path = `/exec/${segment(id)}/resize`;
            const query = { h: rows, w: cols };
            await engine.json({ method: 'POST', path, query, what: 'resize the terminal' }, unhurried);
          },
        }),
    wait: () => finished,
  };
  return { running, output };
}

/** The command's input. A command that reads no more is no failure. */
export function inputOf(connection: Duplex): Writable {
  const noReader = (cause?: Error) =>
    Object.assign(new Error('the command reads no more', { cause }), { code: 'EPIPE' });
  return new WritableStream({
    write(chunk: Buffer, _encoding, done) {
      if (!connection.writable) done(noReader());
      else connection.write(chunk, (error) => done(error ? noReader(error) : null));
    },
    final(done) {
      if (connection.writable) connection.end(() => done());
      else done();
    },
    destroy(error, done) {
      done(hasErrno(error, 'ERR_STREAM_DESTROYED') ? null : error);
    },
  });
}

/** Resolves when what was received has been read, or is wanted by nobody. */
export async function settled({ stdout, stderr }: Pick<ExecOutput, 'stdout' | 'stderr'>): Promise<void> {
  for (const stream of [stdout, stderr]) {
    if (stream === undefined || stream.readableLength === 0 || stream.destroyed) continue;
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
    });
  }
}
