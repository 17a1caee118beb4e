/**
 * Runs the small POSIX sh programs of `guest/` inside a sandbox through its own `exec`, and collects what they print.
 * Everything that comes back is hostile: callers cap and check it.
 */
import type { Readable, Writable } from 'node:stream';
import { SbxError } from '../../errors.ts';
import type { Call, ExecSpec, Exit, Running, Sandbox } from '../contract.ts';

/** The part of a sandbox that derived capabilities are made from. */
export type ExecSandbox = Pick<Sandbox, 'name' | 'backend' | 'exec'>;

export interface GuestOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly user?: string | undefined;
  readonly workdir?: string | undefined;
  readonly stdin?: 'none' | 'pipe';
}

/** A guest program that runs with its output as streams. */
export interface GuestProcess extends Running {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly stdin?: Writable;
}

/** Starts `script` with `sh -c`; `name` is its `$0` and `args` are `$1…`, never parsed by a shell. */
export async function startGuest(
  sandbox: ExecSandbox,
  name: string,
  script: string,
  args: readonly string[],
  call: Call,
  options: GuestOptions = {},
): Promise<GuestProcess> {
  const spec: ExecSpec = {
    argv: ['/bin/sh', '-c', script, name, ...args],
    env: options.env,
    user: options.user,
    workdir: options.workdir,
    stdin: options.stdin ?? 'none',
  };
  const running = await sandbox.exec(spec, call);
  if (running.stdout === undefined || running.stderr === undefined) {
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no output streams for a guest program`);
  }
  return running as GuestProcess;
}

/** What a guest program left behind. */
export interface GuestResult {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exit: Exit;
}

/** Most bytes of standard output that {@link runGuest} keeps. */
export const GUEST_OUTPUT_LIMIT = 16 * 1024 * 1024;
const STDERR_LIMIT = 16 * 1024;

/** Runs `script` to its end, with `input` as what it reads. `failed` when it prints more than `limit` bytes; the exit code is the caller's to judge. */
export async function runGuest(
  sandbox: ExecSandbox,
  name: string,
  script: string,
  args: readonly string[],
  call: Call,
  options: Omit<GuestOptions, 'stdin'> & { readonly limit?: number; readonly input?: string } = {},
): Promise<GuestResult> {
  const { input, ...rest } = options;
  const stdin = input === undefined ? 'none' : 'pipe';
  const running = await startGuest(sandbox, name, script, args, call, { ...rest, stdin });
  // One that ends without reading it all says why by its exit.
  running.stdin?.on('error', () => undefined);
  running.stdin?.end(input);
  const limit = options.limit ?? GUEST_OUTPUT_LIMIT;
  const [stdout, stderr] = await Promise.all([
    collect(running.stdout, limit),
    collect(running.stderr, STDERR_LIMIT),
  ]).catch(async (cause: unknown) => {
    await running.terminate(0);
    // Its failure says more than that its output broke off.
    await running.wait();
    throw cause;
  });
  const exit = await running.wait();
  if (stdout.over) {
    throw new SbxError(
      'failed',
      `sandbox '${sandbox.name}' answered with more than ${limit} bytes to ${name}`,
    );
  }
  return { stdout: stdout.data, stderr: stderr.data.toString('utf8'), exit };
}

/** Says that a program could not begin, by its exit. @throws SbxError `unsupported` */
export function refuseNoShell(sandbox: ExecSandbox, exit: Exit): void {
  if (!('code' in exit) || exit.code !== 127) return;
  throw new SbxError('unsupported', `sandbox '${sandbox.name}' has no shell or lacks a basic command`, {
    backend: sandbox.backend,
    hint: 'use an image with a POSIX shell and coreutils or busybox',
  });
}

async function collect(stream: Readable, limit: number): Promise<{ data: Buffer; over: boolean }> {
  const parts: Buffer[] = [];
  let size = 0;
  let over = false;
  for await (const part of stream as AsyncIterable<Buffer>) {
    const room = limit - size;
    if (part.length > room) over = true;
    if (room > 0) parts.push(part.subarray(0, room));
    size += Math.min(part.length, Math.max(room, 0));
  }
  return { data: Buffer.concat(parts), over };
}
