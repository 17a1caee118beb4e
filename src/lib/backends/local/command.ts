/** A command inside a sandbox as a child of this process, watched over by `guest/exec.sh`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { ExecSpec, Exit, Running, SignalName, TerminalSize } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { watchedCommand } from '../../guest/exec.ts';
import { endOrRest } from '../../transport/end-or-rest.ts';
import { randomHex } from '../../util/random-id.ts';
import type { Pipes, StreamName } from './fifo.ts';
import { onlyThese } from './inherited.ts';
import { childrenOf, stateOf } from './process-state.ts';
import { SYSTEM_PATH } from './system.ts';

export interface CommandOptions {
  readonly sandbox: string;
  readonly backend: string;
  /** Turns the argv that runs inside into the one that this machine runs; absent: it is the same one. */
  readonly join?: ((argv: [string, ...string[]]) => [string, ...string[]]) | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** Makes pipes for the streams that are not handed over. */
  readonly openPipes: (names: readonly StreamName[]) => Pipes;
  /** Whether the sandbox still runs, asked when a command was killed. */
  readonly isRunning: () => boolean;
}

/** After one of these the end of the command is the end of what it left behind: background jobs of a shell ignore INT. */
const ENDING: readonly SignalName[] = ['INT', 'TERM', 'HUP', 'QUIT'];
const LEFTOVER_GRACE_TENTHS = 50;
/** How often a stopped command is looked at, in milliseconds. */
const STOP_LOOK_MS = 300;
/** How long a killed command may take to be gone before its client stops waiting, as for a frozen sandbox. */
const KILL_PATIENCE_MS = 2000;

/** Starts `spec`; resolves once the command's process is there. */
export async function startCommand(spec: ExecSpec, options: CommandOptions): Promise<Running> {
  const names: StreamName[] = [];
  if (spec.stdin === 'pipe' && spec.handOver?.stdin === undefined) names.push('stdin');
  if (spec.handOver?.stdout === undefined) names.push('stdout');
  if (spec.handOver?.stderr === undefined && spec.terminal === undefined) names.push('stderr');
  const pipes = names.length > 0 ? options.openPipes(names) : {};
  const stdin = spec.stdin === 'none' ? 'ignore' : (spec.handOver?.stdin ?? pipes.stdin?.theirs ?? 'ignore');
  const stdout = spec.handOver?.stdout ?? pipes.stdout?.theirs ?? 'ignore';
  const stderr =
    spec.terminal === undefined ? (spec.handOver?.stderr ?? pipes.stderr?.theirs ?? 'ignore') : stdout;
  const { join = (words) => words } = options;
  const [file, ...args] = join([
    '/bin/sh',
    '-c',
    'eval "$SBX_EXEC"',
    'sbx-exec',
    options.workdir,
    ...spec.argv,
  ]);
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      env: { ...commandEnvironment(options.env), ...(options.join === undefined ? { SBX_LEADS: '1' } : {}) },
      cwd: '/',
      // Its own group, so that the terminal's Ctrl-C is ours to pass on.
      detached: true,
      stdio: onlyThese([stdin, stdout, stderr, 'pipe']),
    });
  } catch (error) {
    // Some failures, such as E2BIG, are thrown; others come as an event.
    throw startError(error as Error, options);
  } finally {
    for (const pipe of Object.values(pipes)) closeSync(pipe.theirs);
  }
  return follow(child, pipes, options, spec);
}

function follow(child: ChildProcess, pipes: Pipes, options: CommandOptions, spec: ExecSpec): Running {
  const control = child.stdio[3] as Socket;
  let ready = false;
  let over = false;
  let terminating = false;
  let asked = false;
  const say = (line: string) => {
    if (!over && control.writable) control.write(`${line}\n`);
  };
  let heard = '';
  let resized: Promise<void> = Promise.resolve();
  const waiting = new Map<string, () => void>();
  const hear = (word: string) =>
    new Promise<void>((resolve) => {
      if (heard.includes(word) || control.destroyed) resolve();
      else waiting.set(word, resolve);
    });
  control.on('data', (data: Buffer) => {
    // Only words of exec.sh are looked for; the sandbox may send anything for as long as it likes.
    heard = `${heard}${data.toString('latin1')}`.slice(-64);
    ready ||= heard.includes('ok');
    for (const [word, resolve] of waiting) if (heard.includes(word)) resolve();
  });
  const closed = () => {
    for (const resolve of waiting.values()) resolve();
  };
  control.once('close', closed);
  // The other end goes away when the sandbox does; `wait` tells that.
  control.once('error', closed);
  const answered = hear('ok');
  const guard = options.join === undefined ? undefined : keepAwake(child);
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', (cause) => reject(startError(cause, options)));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { code: code ?? 0 } : { signal: signal.slice(3) }),
    );
  });
  const finished = (async () => {
    try {
      const exit = await ended;
      await answered;
      // What the command started may take its time after it; the grace is theirs too.
      if (asked && !terminating) {
        terminating = true;
        say(`terminate ${LEFTOVER_GRACE_TENTHS}`);
      }
      if (ready && terminating && options.isRunning()) await hear('gone');
      say('end');
      // A Ctrl-C of the terminal may reach the child before it has a group of its own.
      if (!ready && !('signal' in exit && ENDING.some((each) => each === exit.signal)))
        throw notStarted(exit, options);
      if ('signal' in exit && exit.signal === 'KILL' && !options.isRunning()) {
        throw new SbxError(
          'failed',
          `sandbox '${options.sandbox}' was stopped or removed while the command ran`,
          {
            backend: options.backend,
          },
        );
      }
      pipes.stdin?.stream.destroy();
      await Promise.all([endOrRest(pipes.stdout?.stream), endOrRest(pipes.stderr?.stream)]);
      return exit;
    } finally {
      over = true;
      clearInterval(guard);
      control.end();
      // The watcher hears it in its own time.
      control.unref();
      for (const pipe of [pipes.stdout, pipes.stderr])
        if (pipe?.stream.readableEnded === false && !ready) pipe.stream.destroy();
    }
  })();
  // Whoever asks gets the failure; nobody asking is no crash.
  finished.catch(() => undefined);
  return {
    ...(pipes.stdin === undefined ? {} : { stdin: pipes.stdin.stream }),
    ...(pipes.stdout === undefined ? {} : { stdout: pipes.stdout.stream }),
    ...(pipes.stderr === undefined ? {} : { stderr: pipes.stderr.stream }),
    async signal(name: SignalName) {
      say(name);
      asked ||= ENDING.includes(name);
      if (name === 'CONT') child.kill('SIGCONT');
    },
    async terminate(graceMs: number) {
      if (over) return;
      terminating = true;
      say(`terminate ${Math.ceil(graceMs / 100)}`);
      const timer = setTimeout(() => giveUp(child, control), graceMs + KILL_PATIENCE_MS);
      const stop = () => clearTimeout(timer);
      finished.then(stop, stop);
    },
    ...(spec.terminal === undefined
      ? {}
      : {
          resize(size: TerminalSize) {
            resized = resized.then(async () => {
              if (over) return;
              heard = heard.replaceAll('sized', '');
              say(`size ${size.rows} ${size.cols}`);
              await hear('sized');
            });
            return resized;
          },
        }),
    wait: () => finished,
  };
}

/** A sandbox that is frozen cannot kill its command, so in the end only our side of it goes; the rest follows when it wakes. */
function giveUp(child: ChildProcess, control: Socket): void {
  child.kill('SIGKILL');
  control.destroy();
}

/**
 * `nsenter` stops itself when the command is stopped, and would not notice its end when somebody inside let it go on.
 * @returns the timer to clear.
 */
function keepAwake(child: ChildProcess): NodeJS.Timeout {
  const timer = setInterval(() => {
    const pid = child.pid ?? 0;
    if (stateOf(pid) !== 'T') return;
    const inner = childrenOf(pid);
    if (inner.every((each) => stateOf(each) !== 'T')) child.kill('SIGCONT');
  }, STOP_LOOK_MS);
  return timer.unref();
}

/** Variables that would act on our own programs on the way in; they are set when the command itself starts. */
const LATE = /^(LD_.*|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|MALLOC_.*|NLSPATH|PATH|SBX_.*)$/;

function commandEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const early: Record<string, string> = {
    PATH: SYSTEM_PATH,
    SBX_EXEC: watchedCommand,
    SBX_MARK: randomHex(8),
  };
  const late: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (LATE.test(name)) {
      late.push(name);
      early[`SBX_LATE_${name}`] = value;
    } else early[name] = value;
  }
  early.SBX_LATE = late.join(' ');
  return early;
}

function startError(cause: Error, options: CommandOptions): SbxError {
  const tooLong = 'code' in cause && cause.code === 'E2BIG';
  const reason = tooLong ? 'its arguments and environment are longer than the system takes' : cause.message;
  return new SbxError('failed', `cannot start the command: ${reason}`, { backend: options.backend, cause });
}

function notStarted(exit: Exit, options: CommandOptions): SbxError {
  if (!options.isRunning()) {
    return new SbxError(
      'failed',
      `sandbox '${options.sandbox}' was stopped or removed before the command started`,
      {
        backend: options.backend,
      },
    );
  }
  const how = 'signal' in exit ? `signal ${exit.signal}` : `exit ${exit.code}`;
  return new SbxError('failed', `cannot enter sandbox '${options.sandbox}' or run its /bin/sh (${how})`, {
    backend: options.backend,
    hint: 'see what works on this machine: sbx doctor',
  });
}
