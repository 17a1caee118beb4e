/**
 * The folder that a tree is unpacked into before it is put in place. One command makes it, waits on its input while the
 * engine fills it, and commits or discards it; when the client dies it discards it. It ends with its input, and needs no watcher.
 */
import type { Readable } from 'node:stream';
import type { Argv, Call } from '../../backend/contract.ts';
import common from '../../guest/file-common.sh';
import { fileError } from '../../guest/file-errors.ts';
import commitScript from '../../guest/tar-commit.sh';
import holdScript from '../../guest/tar-hold.sh';
import stageScript from '../../guest/tar-stage.sh';
import { randomHex } from '../../util/random-id.ts';
import type { Box } from './box.ts';
import { attach } from './exec.ts';
import { execOutput } from './exec-output.ts';
import { untilOver } from './exec-over.ts';
import { execPiped } from './exec-piped.ts';

/** Says `done` too when all is in place: its own end takes the engine a while to tell. */
const SCRIPT = `${common}${stageScript}${holdScript}${commitScript}\nprintf 'done\\n'`;
/** Most characters that are kept: of answers, and of a message. */
const HEARD_LIMIT = 64;
const SAID_LIMIT = 16 * 1024;

/** A folder that is ready to be filled. */
export interface Stage {
  readonly path: string;
  /** Puts what the folder holds in place, or removes it; what cannot be put there is removed too. @throws SbxError `conflict`, `failed` with the reason. */
  end(how: 'commit' | 'discard', call: Call): Promise<void>;
}

/** Makes a folder in `directory`, which is absolute. @throws SbxError when that cannot be written. */
export async function openStage(box: Box, directory: string, call: Call): Promise<Stage> {
  const name = `.sbx-${randomHex(8)}`;
  const argv: Argv = ['/bin/sh', '-c', SCRIPT, 'tar-stage', directory, name];
  const holder = (await byPipes(box, argv, call)) ?? (await byEngine(box, argv, call));
  const said = lastOf(holder.stderr);
  const over = async () => {
    const code = await holder.over();
    if (code === 0) return;
    throw fileError({ sandbox: box.name, path: directory, verb: 'write to', code, stderr: await said });
  };
  if (!(await holder.hears('ok'))) await over();
  return {
    path: `${directory}/${name}`,
    async end(how, endCall) {
      endCall.signal.addEventListener('abort', holder.leave, { once: true });
      holder.say(how);
      if (await holder.hears('done')) holder.leave();
      else await over();
      endCall.signal.removeEventListener('abort', holder.leave);
    },
  };
}

/** The command that holds the folder, whichever way it was started. */
interface Holder {
  readonly stderr: Readable | undefined;
  say(word: string): void;
  /** Waits for a word of the command; false when it ends without. */
  hears(word: string): Promise<boolean>;
  /** Its exit code; undefined when nobody knows it. */
  over(): Promise<number | undefined>;
  /** Goes away. The command hears the end of its input. */
  leave(): void;
}

async function byPipes(box: Box, argv: Argv, call: Call): Promise<Holder | undefined> {
  const running = await execPiped(box, { argv, workdir: '/', stdin: 'pipe' }, call);
  if (running === undefined) return undefined;
  const { stdin, stdout, stderr, leave } = running;
  // One that reads no more has ended, which is heard.
  stdin?.on('error', () => undefined);
  const ended = running.wait().then(
    (exit) => ('code' in exit ? exit.code : undefined),
    () => undefined,
  );
  return {
    stderr,
    say: (word) => void stdin?.write(`${word}\n`),
    hears: listener(stdout, ended),
    over: () => ended,
    leave,
  };
}

async function byEngine(box: Box, argv: Argv, call: Call): Promise<Holder> {
  const body = {
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false },
    ...{ User: box.user, WorkingDir: '/' },
    Cmd: argv,
  };
  const { id, connection } = await attach(box, body, call);
  const output = execOutput(connection, { terminal: false, mark: undefined, onReaderGone: () => undefined });
  return {
    stderr: output.stderr,
    say: (word) => {
      if (connection.writable) connection.write(`${word}\n`);
    },
    hears: listener(output.stdout, output.ended),
    async over() {
      const ended = await untilOver(box.docker.engine, id, output);
      output.finish();
      connection.destroy();
      return ended?.ExitCode ?? undefined;
    },
    leave: () => void connection.destroy(),
  };
}

function listener(stdout: Readable, ended: Promise<unknown>): Holder['hears'] {
  let heard = '';
  let wake: (() => void) | undefined;
  stdout.on('data', (chunk: Buffer) => {
    heard = `${heard}${chunk.toString('latin1')}`.slice(-HEARD_LIMIT);
    wake?.();
  });
  return async (word) => {
    const isHeard = new Promise<true>((resolve) => {
      wake = () => {
        if (heard.includes(`${word}\n`)) resolve(true);
      };
      wake();
    });
    return Promise.race([isHeard, ended.then(() => heard.includes(`${word}\n`))]);
  };
}

/** The end of what comes, also when nobody listens any more. */
async function lastOf(stream: Readable | undefined): Promise<string> {
  let text = '';
  stream?.on('data', (chunk: Buffer) => {
    text = `${text}${chunk.toString('utf8')}`.slice(-SAID_LIMIT);
  });
  await new Promise<void>((resolve) => {
    if (stream === undefined) resolve();
    for (const event of ['end', 'error', 'close']) stream?.once(event, () => resolve());
  });
  return text;
}
