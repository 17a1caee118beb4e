/** A command on a terminal: the server opens one with a shell, which is told to become the command. guest/exec-typed.sh. */
import { Readable, Writable } from 'node:stream';
import type { Call, ExecSpec, Exit, Running, TerminalSize } from '../../../backend/contract.ts';
import { SbxError } from '../../../errors.ts';
import { randomHex } from '../../../util/random-id.ts';
import { exitOf, isProcess, lost, signalsOf } from './exec.ts';
import { cutAt } from './mark.ts';
import { removeTypedOf, typedLine, typedOf } from './program.ts';
import { type PlainSandbox, pathOf, runProgram, sendProgram } from './shell.ts';

/** Most characters of what the shell says before the command runs that are kept. */
const STRAY_LIMIT = 2000;
/** Longest process id, or exit code, with what closes it. */
const NUMBER_LIMIT = 12;

type TerminalSpec = ExecSpec & { readonly terminal: NonNullable<ExecSpec['terminal']> };

/** Starts it. The client's leaving ends it, as far as the server ends its terminals. */
export async function execOnTerminal(
  sandbox: PlainSandbox,
  spec: TerminalSpec,
  call: Call,
): Promise<Running> {
  const { api } = sandbox;
  const { cols, rows } = spec.terminal;
  const mark = randomHex(8);
  const written = await runProgram(sandbox, typedOf(mark, spec, spec.terminal, spec.terminal.term), call);
  if (written !== 0) throw lost(sandbox, 'its program cannot be written', undefined);
  const socket = await api.webSocket(`${pathOf(sandbox)}/terminal?cols=${cols}&rows=${rows}`, call);
  const started = Promise.withResolvers<number>();
  const finished = Promise.withResolvers<Exit>();
  // Whoever asks gets the failure; nobody asking is no crash.
  for (const { promise } of [started, finished]) promise.catch(() => undefined);
  const signals = signalsOf(sandbox, mark, started.promise);
  const stdout = new Readable({
    read: () => socket.resume(),
    destroy(error, done) {
      socket.close();
      done(error);
    },
  });
  let code: number | undefined;
  let stray = '';
  const number = { text: '', isExit: false };
  const untilStart = cutAt(`sbx:${mark}:`);
  const untilEnd = cutAt(`sbx:${mark}:exit:`);
  /** Takes the digits of the mark that was seen; what comes after `;` is left. */
  const digits = (piece: Buffer): Buffer | undefined => {
    const at = piece.indexOf(';');
    number.text += piece.toString('latin1', 0, at < 0 ? piece.length : at);
    if (number.text.length > NUMBER_LIMIT) throw new Error('what ought to be a number is none');
    return at < 0 ? undefined : piece.subarray(at + 1);
  };
  const phases = {
    shell(piece: Buffer) {
      const { before, after } = untilStart(piece);
      stray = `${stray}${before.toString('utf8')}`.slice(-STRAY_LIMIT);
      if (after === undefined) return;
      take = phases.pid;
      take(after);
    },
    pid(piece: Buffer) {
      const rest = digits(piece);
      if (rest === undefined) return;
      if (!isProcess(number.text)) throw new Error('what ought to be a process is none');
      started.resolve(Number(number.text));
      number.text = '';
      take = phases.command;
      take(rest);
    },
    command(piece: Buffer) {
      const { before, after } = untilEnd(piece);
      if (before.length > 0 && !stdout.destroyed && !stdout.push(before)) socket.pause();
      if (after === undefined) return;
      take = phases.exit;
      take(after);
    },
    exit(piece: Buffer) {
      if (digits(piece) === undefined) return;
      code = Number(number.text);
      take = () => undefined;
      socket.close();
    },
  };
  let take: (piece: Buffer) => void = phases.shell;
  socket.on('message', (data, isBinary) => {
    try {
      if (isBinary) take(data as Buffer);
      else stray = `${stray}${String(data)}`.slice(-STRAY_LIMIT);
    } catch {
      socket.terminate();
    }
  });
  socket.resume();
  socket.once('close', async () => {
    if (!stdout.destroyed) stdout.push(null);
    stdin.destroy();
    const killed = code === undefined && signals.sent.has('KILL');
    if (code === undefined && !killed) {
      const why = lost(sandbox, stray, undefined);
      started.reject(why);
      finished.reject(why);
      return;
    }
    await signals.leftoversGone();
    signals.close();
    finished.resolve(code === undefined ? { signal: 'KILL' } : exitOf(code, signals.sent));
  });
  const stdin = new Writable({
    write: (data: Buffer, _encoding, done) =>
      socket.send(data, { binary: true }, (error) => done(error ? noReader(error) : null)),
    // A terminal has no end of input; whoever wants one sends the key for it.
    final: (done) => done(),
  });
  stdin.on('error', () => undefined);
  socket.send(Buffer.from(typedLine(mark)), { binary: true });
  const giveUp = () => socket.terminate();
  call.signal.addEventListener('abort', giveUp, { once: true });
  try {
    await started.promise;
  } catch (error) {
    throw call.signal.aborted ? new SbxError('interrupted', 'interrupted') : error;
  } finally {
    call.signal.removeEventListener('abort', giveUp);
    sendProgram(sandbox, removeTypedOf(mark));
  }
  return {
    stdin,
    stdout,
    signal: signals.signal,
    terminate: signals.terminate,
    async resize({ cols: width, rows: height }: TerminalSize) {
      if (socket.readyState === socket.OPEN)
        socket.send(JSON.stringify({ type: 'resize', cols: width, rows: height }));
    },
    wait: () => finished.promise,
  };
}

const noReader = (cause: Error) =>
  Object.assign(new Error('the terminal is closed', { cause }), { code: 'EPIPE' });
