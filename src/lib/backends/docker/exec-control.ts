/** The line to the watcher of a command: its own input, or a second command of the engine. */
import type { Duplex } from 'node:stream';
import { SbxError } from '../../errors.ts';
import { commandControl } from '../../guest/exec.ts';
import { dockerStreamParser } from '../../wire/docker-stream.ts';
import type { Engine } from './engine.ts';
import { segment } from './engine.ts';

/** A watcher that listens. */
export interface Control {
  /** Passes on a line of exec-watch.sh. */
  say(line: string): void;
  /** Resolves when the watcher has answered "gone", or is gone itself. */
  readonly gone: Promise<void>;
  /** Nothing more will be said. */
  close(): void;
}

/** Characters of the watcher's answers that are kept. */
const HEARD = 64;

/** Starts a watcher for the command that carries `mark`, as the container's root. */
export async function startControl(
  engine: Engine,
  container: string,
  mark: string,
  pid: number | undefined,
): Promise<Control> {
  const call = { signal: new AbortController().signal };
  const what = 'watch over the command';
  const args = pid === undefined ? [mark] : [mark, String(pid)];
  const made = (await engine.json(
    {
      method: 'POST',
      path: `/containers/${segment(container)}/exec`,
      body: {
        AttachStdin: true,
        AttachStdout: true,
        User: '0',
        WorkingDir: '/',
        Env: [`SBX_EXEC=${commandControl}`],
        Cmd: ['/bin/sh', '-c', 'eval "$SBX_EXEC"', 'sbx-control', ...args],
      },
      what,
    },
    call,
  )) as { readonly Id: string };
  const connection = await engine.upgrade(
    { method: 'POST', path: `/exec/${segment(made.Id)}/start`, body: { Detach: false, Tty: false }, what },
    call,
  );
  return listen(connection);
}

function listen(connection: Duplex): Control {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  let heard = '';
  let closed = false;
  const parse = dockerStreamParser((_stream, piece) => {
    heard = `${heard}${Buffer.from(piece).toString('latin1')}`.slice(-HEARD);
    if (heard.includes('gone\n')) resolve();
  });
  connection.on('data', (chunk: Buffer) => {
    try {
      parse(chunk);
    } catch (error) {
      connection.destroy(error as Error);
    }
  });
  // Whatever ends it, the watcher hears no more of us.
  for (const event of ['end', 'error', 'close']) connection.once(event, () => resolve());
  return {
    say(line) {
      if (!closed && connection.writable) connection.write(`${line}\n`);
    },
    gone,
    close() {
      if (closed) return;
      closed = true;
      if (connection.writable) connection.end('end\n');
      unreference(connection);
    },
  };
}

/** The watcher hears the end in its own time; nobody waits for its answer. */
function unreference(connection: Duplex): void {
  if ('unref' in connection && typeof connection.unref === 'function') connection.unref();
}

/** The error for a signal that cannot be passed on. */
export function noControl(sandbox: string, backend: string): SbxError {
  return new SbxError(
    'unsupported',
    `a command in sandbox '${sandbox}' cannot be sent signals: its image has no /bin/sh`,
    { backend, hint: `end everything in it: sbx stop ${sandbox}` },
  );
}
