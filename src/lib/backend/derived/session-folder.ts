/**
 * Sessions whose folder lies on this machine: attaching and the recording need no exec. The sandbox may put anything
 * in that folder: see process-folder-files.ts. A socket is connected to by what was opened and found to be one, which
 * also leaves the length of its path no matter.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { hasErrno, SbxError } from '../../errors.ts';
import { withoutLastWords } from '../../guest/session-recording.ts';
import { exitOfRecord } from '../../guest/sessions.ts';
import { dtachChannel } from '../../transport/dtach-channel.ts';
import { randomHex } from '../../util/random-id.ts';
import type { AttachOptions, Call, ChannelEnd, SessionChannel } from '../contract.ts';
import {
  openDirectoryIn,
  openFileIn,
  openFolder,
  openSocketIn,
  openWritableIn,
  pathOf,
  readFileIn,
} from './process-folder-files.ts';
import { sessionEnded } from './session-errors.ts';

const LINE_LIMIT = 64;
/** Bytes of a word that says who took over. */
const WORD_LENGTH = 32;
/** Most that the end of a session may take to be recorded after its socket is gone, in milliseconds. */
const RECORD_PATIENCE_MS = 2000;
/** How soon a dtach that is ending closes a connection that was just made, in milliseconds. */
const CLOSE_MS = 100;

/** Opens the folder of a session below the sandbox's guest folder; undefined when it is not there or not ours to open. */
export async function openSession(guest: string, name: string): Promise<FileHandle | undefined> {
  const folder = await openFolder(guest);
  const all = folder && (await openDirectoryIn(folder, 'sessions'));
  await folder?.close();
  const session = all && (await openDirectoryIn(all, name));
  await all?.close();
  return session;
}

/** The last `bytes` bytes of the recording in the open folder of a session. */
export async function readRecording(session: FileHandle, bytes: number): Promise<Uint8Array> {
  const file = await openFileIn(session, 'recording');
  if (file === undefined) return new Uint8Array();
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(bytes, size));
    const from = size - buffer.length;
    let read = 0;
    while (read < buffer.length) {
      const { bytesRead } = await file.read(buffer, read, buffer.length - read, from + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    return withoutLastWords(buffer.subarray(0, read));
  } finally {
    await file.close();
  }
}

/** What attaching needs besides the folder. */
export interface FolderAttach extends AttachOptions {
  readonly sandbox: string;
  readonly name: string;
  /** Whether the sandbox runs, so that the end of a session can still be recorded. */
  readonly isRunning: () => boolean;
}

/** Attaches to the session whose open folder is `session`, which is closed with the channel, or on failure. */
export async function attachInFolder(
  session: FileHandle,
  options: FolderAttach,
  call: Call,
): Promise<SessionChannel> {
  const socket = await dial(session);
  if (socket === undefined || call.signal.aborted) {
    socket?.destroy();
    await session.close();
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    throw sessionEnded(options.sandbox, options.name);
  }
  const watched = await watchTaking(session, () => opened.end({ reason: 'taken' }));
  const opened = dtachChannel(
    {
      stream: socket,
      howEnded: () => howEnded(session, options.isRunning),
      release() {
        watched?.close();
        // Nothing is written to it, so closing it cannot lose anything.
        session.close().catch(() => undefined);
      },
    },
    options,
  );
  if (options.takeOver) await watched?.take();
  return opened.channel;
}

/** A connection to the session's socket; undefined when nobody is behind it. */
async function dial(session: FileHandle): Promise<Socket | undefined> {
  const file = await openSocketIn(session, 'socket');
  if (file === undefined) return undefined;
  try {
    const socket = connect({ path: pathOf(file) });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.removeAllListeners();
    // It may be closed before anybody listens; whoever does finds out how the session ended.
    return socket.on('error', () => undefined);
  } catch (error) {
    if (hasErrno(error, 'ECONNREFUSED', 'ENOENT', 'EACCES', 'EPROTOTYPE')) return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

async function howEnded(session: FileHandle, isRunning: () => boolean): Promise<ChannelEnd> {
  try {
    const exit = await exitRecord(session);
    if (exit !== undefined) return exit;
    const again = await dial(session);
    if (again !== undefined && (await staysOpen(again)))
      return { reason: 'lost', error: new Error('the session closed the connection') };
    return (isRunning() ? await nextExitRecord(session) : await exitRecord(session)) ?? { reason: 'ended' };
  } catch (error) {
    return { reason: 'lost', error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** Whether somebody is behind a connection: for a moment it can also be had of a dtach that is ending. */
async function staysOpen(socket: Socket): Promise<boolean> {
  const closed = new Promise<boolean>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve(false));
  });
  socket.resume();
  const isOpen = await Promise.race([closed, pause(CLOSE_MS).then(() => true)]);
  socket.destroy();
  return isOpen;
}

async function exitRecord(session: FileHandle): Promise<ChannelEnd | undefined> {
  const line = await readFileIn(session, 'exit', LINE_LIMIT);
  if (line === undefined) return undefined;
  const exit = exitOfRecord(line.toString('latin1').split(' ', 1)[0]);
  return exit === undefined ? { reason: 'ended' } : { reason: 'ended', exit };
}

/** Waits for the record that a session's supervisor writes when dtach was killed before it. */
async function nextExitRecord(session: FileHandle): Promise<ChannelEnd | undefined> {
  const { promise: patience, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, RECORD_PATIENCE_MS);
  let changed = Promise.withResolvers<void>();
  const watcher = tryWatch(pathOf(session), () => changed.resolve());
  let waiting = true;
  const patient = patience.then(() => {
    waiting = false;
  });
  try {
    for (;;) {
      changed = Promise.withResolvers<void>();
      const exit = await exitRecord(session);
      if (exit !== undefined || !waiting) return exit;
      await Promise.race([changed.promise, patient]);
    }
  } finally {
    clearTimeout(timer);
    watcher?.close();
  }
}

/**
 * Clients of one session know of each other by a file: who takes over writes a word of its own, and the others, who
 * watch it, leave. Undefined when the file is not there: then nobody can be made to leave.
 */
async function watchTaking(
  session: FileHandle,
  onTaken: () => void,
): Promise<{ take(): Promise<void>; close(): void } | undefined> {
  const file = await openWritableIn(session, 'taken');
  if (file === undefined) return undefined;
  let known = await wordIn(file);
  let taking = false;
  const look = async () => {
    // A file that was closed belongs to a channel that is over.
    const word = await wordIn(file).catch(() => known);
    if (!taking && word !== known) onTaken();
  };
  const watcher = tryWatch(pathOf(file), look);
  return {
    async take() {
      taking = true;
      known = randomHex(WORD_LENGTH / 2);
      await file.write(known, 0, 'latin1');
      taking = false;
      await look();
    },
    close() {
      watcher?.close();
      // The word was written by its own call.
      file.close().catch(() => undefined);
    },
  };
}

async function wordIn(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(WORD_LENGTH), 0, WORD_LENGTH, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/** Without a watch left (ENOSPC, EMFILE) changes go unnoticed. */
function tryWatch(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on('error', () => undefined);
  } catch (error) {
    if (hasErrno(error, 'ENOSPC', 'EMFILE', 'ENOENT')) return undefined;
    throw error;
  }
}
