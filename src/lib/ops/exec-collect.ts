/** Runs a command and keeps what it prints, for `--json`. */
import { Writable } from 'node:stream';
import type { Sandbox } from '../backend/contract.ts';
import { type ExecHost, type ExecRequest, execute } from './exec.ts';

/** Most bytes that are kept of each output; what comes after is read and dropped. */
export const COLLECT_LIMIT = 16 * 1024 * 1024;

/** What a command did, as `--json` prints it. */
export interface Collected {
  readonly exitCode: number;
  /** The signal that ended it, without `SIG`; `null` for none. */
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Text; bytes that are no UTF-8 are replaced by U+FFFD. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether one of the outputs was longer than {@link COLLECT_LIMIT}. */
  readonly truncated: boolean;
  readonly durationMs: number;
}

/** Like {@link execute}, with the output in the result. */
export async function executeAndCollect(
  sandbox: Sandbox,
  request: ExecRequest,
  host: ExecHost,
): Promise<Collected> {
  const stdout = new Keep();
  const stderr = new Keep();
  const { exitCode, signal, timedOut, durationMs } = await execute(sandbox, request, host, {
    stdout,
    stderr,
  });
  return {
    exitCode,
    signal: signal ?? null,
    timedOut,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.over || stderr.over,
    durationMs,
  };
}

class Keep extends Writable {
  readonly #parts: Buffer[] = [];
  #room = COLLECT_LIMIT;
  over = false;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (chunk.length > this.#room) this.over = true;
    if (this.#room > 0) this.#parts.push(chunk.subarray(0, this.#room));
    this.#room -= Math.min(chunk.length, this.#room);
    done();
  }

  text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
