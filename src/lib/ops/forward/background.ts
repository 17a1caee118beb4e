/** Forwards that outlive the command that made them: starting their process, and the side of that process. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';
import { processIdentity } from './process-identity.ts';
import {
  type BackgroundForward,
  logPath,
  readForward,
  readLogEnd,
  removeRecord,
  writeRecord,
} from './records.ts';
import type { EstablishedForward } from './types.ts';

/** The descriptor on which the process in the background says that it listens. */
const READY_FD = 3;
const READY = 'ready\n';

export interface StartOptions {
  /** The state folder. */
  readonly state: string;
  readonly id: string;
  /** The program and its arguments that run the forward and call {@link keepRecord}. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Starts a process of its own and waits until it listens.
 * @throws SbxError `failed` with the last line of its log when it ends before that; nothing is left then.
 */
export async function startBackground(
  { state, id, command, env }: StartOptions,
  call: Call,
): Promise<BackgroundForward> {
  const log = logPath(state, id);
  ensureFolder(dirname(log));
  const fd = openSync(log, 'a', 0o600);
  const [program, ...args] = command;
  const child = spawn(program, args, { env, detached: true, stdio: ['ignore', fd, fd, 'pipe'] });
  closeSync(fd);
  const stop = () => child.kill('SIGTERM');
  call.signal.addEventListener('abort', stop, { once: true });
  try {
    const said = await textOf(child.stdio[READY_FD] as Readable);
    if (call.signal.aborted) throw new SbxError('interrupted', 'starting the forward was interrupted');
    const forward = said === READY ? await readForward(state, id) : undefined;
    if (forward?.state !== 'running') {
      const { line = 'its process ended without a word', hint } = await readLogEnd(log);
      throw new SbxError('failed', `the forward did not start: ${line}`, { hint });
    }
    return forward;
  } catch (error) {
    stop();
    await removeRecord(state, id);
    throw error;
  } finally {
    call.signal.removeEventListener('abort', stop);
    child.unref();
  }
}

/** The record that a process in the background keeps of itself. */
export interface OwnRecord {
  /** Everything listens: writes the record and lets the starter go on. */
  ready(forwards: readonly EstablishedForward[]): Promise<void>;
  /** A forward came later. */
  add(forward: EstablishedForward): void;
  /** A forward went. */
  remove(forward: EstablishedForward): void;
  /** It was stopped on purpose: nothing is left of it. */
  forget(): Promise<void>;
}

export interface OwnRecordFacts {
  readonly state: string;
  readonly id: string;
  readonly pid: number;
  readonly sandbox: string;
  readonly backend: string;
  readonly createdAt: string;
}

export function keepRecord(facts: OwnRecordFacts): OwnRecord {
  const { state, ...rest } = facts;
  const open = new Set<EstablishedForward>();
  let identity: string | undefined;
  const write = () => {
    if (identity !== undefined) writeRecord(state, { ...rest, identity, forwards: [...open] });
  };
  return {
    async ready(forwards) {
      for (const forward of forwards) open.add(forward);
      identity = await processIdentity(facts.pid);
      if (identity === undefined)
        throw new SbxError('failed', `cannot tell when process ${facts.pid} started`);
      write();
      tellStarter();
    },
    add(forward) {
      open.add(forward);
      write();
    },
    remove(forward) {
      open.delete(forward);
      write();
    },
    forget: () => removeRecord(state, facts.id),
  };
}

function tellStarter(): void {
  try {
    writeSync(READY_FD, READY);
    closeSync(READY_FD);
  } catch (error) {
    // The starter has gone or was never there; the forward goes on.
    if (!hasErrno(error, 'EPIPE', 'EBADF')) throw error;
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const part of stream as AsyncIterable<Buffer>) {
    text += part.toString('latin1');
    if (text.length >= READY.length) break;
  }
  return text;
}
