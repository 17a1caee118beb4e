/** A request for guest/exec-server.sh: the FIFOs of a command, what is to run, and the line that announces it. */
import { closeSync, constants, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { hasErrno } from '../../errors.ts';
import { type FifoMaker, makeFifos } from '../../transport/fifo.ts';
import { openRequests } from './pipes.ts';

/** A command that was asked for. All ends are ours alone: what happens to them is its end of the other side. */
export interface PipesRequest {
  /** What the server says: how far the command is, and its end. */
  readonly said: Socket;
  /** What the watcher answers. */
  readonly told: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly stdin: Socket | undefined;
  /** A line for the watcher; one that it does not take is lost. */
  say(line: string): void;
  /** To be called once the command has begun: the FIFOs lose their names, and it can stop reading. */
  begun(): void;
  /** Takes the request back, if the command has not begun; @returns whether it never will. */
  withdraw(): boolean;
  /** Closes all but the command's own streams. */
  close(): void;
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
/** A FIFO is opened without waiting for the other side by a reader always, by a writer when there is a reader. */
const READ = O_RDONLY | O_NONBLOCK | O_NOFOLLOW;
const WRITE = O_WRONLY | O_NONBLOCK | O_NOFOLLOW;
/** Who reads this runs the command. */
const GO = 'go\n';

/** What is asked for. */
export interface PipesRequestOptions {
  readonly folder: string;
  /** Sixteen hexadecimal digits that nobody else has. */
  readonly mark: string;
  /** For guest/exec-piped.sh. */
  readonly text: string;
  readonly stdin: boolean;
  readonly fifos: FifoMaker;
}

/** Announces a command. Throws what the file system says, ENXIO where no server is; then nothing was asked for, and nothing stays. */
export function requestByPipes({ folder, mark, text, stdin, fifos }: PipesRequestOptions): PipesRequest {
  // Before anything is made: most often there is nobody at all, or there is.
  const requests = openRequests(folder);
  const at = (name: string) => join(folder, name === '' ? mark : `${mark}.${name}`);
  const names = ['to', 'from', 'told', 'out', 'err', ...(stdin ? ['in'] : [])];
  /** Our descriptors that no stream has. */
  const held = new Set([requests]);
  /** Of those, the ones that only keep a FIFO from being without a reader before the command has opened it. */
  const readers: number[] = [];
  const forget = () => {
    for (const name of ['', ...names]) rmSync(at(name), { force: true });
  };
  const shut = (descriptor: number) => {
    if (held.delete(descriptor)) closeSync(descriptor);
  };
  const hold = (name: string, flags: number) => {
    const descriptor = openSync(at(name), flags);
    held.add(descriptor);
    return descriptor;
  };
  try {
    makeFifos(names.map(at), fifos);
    const [from, told, out, err] = ['from', 'told', 'out', 'err'].map((name) => hold(name, READ));
    const lines = hold('to', READ);
    readers.push(lines);
    const to = hold('to', WRITE);
    if (stdin) readers.push(hold('in', READ));
    const input = stdin ? hold('in', WRITE) : undefined;
    writeFileSync(at(''), text, { mode: 0o600, flag: 'wx' });
    writeSync(to, GO);
    writeSync(requests, `${mark}\n`);
    shut(requests);
    const stream = (descriptor = -1, writable = false) => {
      held.delete(descriptor);
      return new Socket({ fd: descriptor, readable: !writable, writable });
    };
    const request = {
      said: stream(from),
      told: stream(told),
      stdout: stream(out),
      stderr: stream(err),
      stdin: input === undefined ? undefined : stream(input, true),
    };
    return {
      ...request,
      say(line) {
        if (held.has(to)) writeOrLose(to, `${line}\n`);
      },
      begun() {
        for (const reader of readers) shut(reader);
        forget();
      },
      withdraw: () => held.has(lines) && hasRead(lines),
      close() {
        for (const descriptor of [...held]) shut(descriptor);
        request.said.destroy();
        request.told.destroy();
        forget();
      },
    };
  } catch (error) {
    for (const descriptor of [...held]) shut(descriptor);
    forget();
    throw error;
  }
}

/** The watcher may be gone, or stand still with its sandbox. */
function writeOrLose(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch (error) {
    if (!hasErrno(error, 'EPIPE', 'EAGAIN')) throw error;
  }
}

/** Whether something of {@link GO} was still there; whoever gets the rest of it cannot read it. */
function hasRead(descriptor: number): boolean {
  try {
    return readSync(descriptor, Buffer.alloc(GO.length)) > 0;
  } catch (error) {
    if (hasErrno(error, 'EAGAIN')) return false;
    throw error;
  }
}
