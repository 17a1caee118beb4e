/**
 * The folder that a tree is unpacked into before it is put in place. One command makes it, waits on its input while the
 * engine fills it, and commits or discards it; when the client dies it discards it. It ends with its input, so it needs no watcher.
 */
import { randomBytes } from 'node:crypto';
import type { Call } from '../../backend/contract.ts';
import common from '../../guest/file-common.sh';
import { fileError } from '../../guest/file-errors.ts';
import commitScript from '../../guest/tar-commit.sh';
import holdScript from '../../guest/tar-hold.sh';
import stageScript from '../../guest/tar-stage.sh';
import type { Box } from './box.ts';
import { attach } from './exec.ts';
import { type ExecOutput, execOutput } from './exec-output.ts';
import { untilOver } from './exec-over.ts';

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
  const name = `.sbx-${randomBytes(8).toString('hex')}`;
  const body = {
    ...{ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false },
    ...{ User: box.user, WorkingDir: '/' },
    Cmd: ['/bin/sh', '-c', SCRIPT, 'tar-stage', directory, name],
  };
  const { id, connection } = await attach(box, body, call);
  const output = execOutput(connection, { terminal: false, mark: undefined, onReaderGone: () => undefined });
  const said = lastOf(output.stderr);
  const hears = listener(output);
  const over = async () => {
    const ended = await untilOver(box.docker.engine, id, output);
    output.finish();
    connection.destroy();
    const code = ended?.ExitCode ?? undefined;
    if (code === 0) return;
    throw fileError({ sandbox: box.name, path: directory, verb: 'write to', code, stderr: await said });
  };
  if (!(await hears('ok'))) await over();
  return {
    path: `${directory}/${name}`,
    async end(how, endCall) {
      const giveUp = () => connection.destroy();
      endCall.signal.addEventListener('abort', giveUp, { once: true });
      if (connection.writable) connection.write(`${how}\n`);
      if (await hears('done')) connection.destroy();
      else await over();
      endCall.signal.removeEventListener('abort', giveUp);
    },
  };
}

/** Waits for a word of the command; false when it ends without. */
function listener({ stdout, ended }: ExecOutput): (word: string) => Promise<boolean> {
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

async function lastOf(stream: ExecOutput['stderr']): Promise<string> {
  let text = '';
  for await (const chunk of (stream ?? []) as AsyncIterable<Buffer>)
    text = `${text}${chunk.toString('utf8')}`.slice(-SAID_LIMIT);
  return text;
}
