/** The client's end of a terminal: a WebSocket. */
import { WebSocket } from 'ws';
import { type HotcellServer, keyOf } from './server.ts';

export interface TerminalSocket {
  /** Sends bytes to the terminal, in one binary frame. */
  keys(bytes: string | Uint8Array): void;
  /** Sends a text frame. */
  tell(message: string): void;
  /** All that came in binary frames. */
  output(): string;
  /** The text frames that came. */
  told(): readonly string[];
  /** Resolves when the output so far matches; rejects when the connection ends without that. */
  until(wanted: RegExp): Promise<void>;
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  /** Leaves, and waits until that is so. */
  close(): Promise<void>;
}

export interface TerminalOptions {
  /** What is asked for; default the terminal of the sandbox. */
  readonly path?: string;
  /** Such as `?cols=100`. */
  readonly query?: string;
  /** Default the key. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a terminal of the sandbox, which must be granted. */
export async function openTerminal(
  server: HotcellServer,
  id: string,
  options: TerminalOptions = {},
): Promise<TerminalSocket> {
  const socket = dial(server, id, options);
  const texts: string[] = [];
  const waiting = new Set<() => void>();
  let output = '';
  let ended = false;
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) output += data.toString('latin1');
    else texts.push(data.toString());
    tell();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      ended = true;
      tell();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return {
    keys: (bytes) => socket.send(Buffer.from(bytes), { binary: true }),
    tell: (message) => socket.send(message, { binary: false }),
    output: () => output,
    told: () => texts,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (wanted.test(output)) resolve();
          else if (ended) reject(new Error(`the terminal ended before ${wanted}: ${output.slice(-500)}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    closed,
    async close() {
      socket.close();
      await closed;
    },
  };
}

/** Asks for a terminal that must not be granted. @returns the status of the answer */
export function refusedTerminal(
  server: HotcellServer,
  id: string,
  options: TerminalOptions = {},
): Promise<number | 'hung up'> {
  const socket = dial(server, id, options);
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (request, response) => {
      response.resume();
      request.destroy();
      resolve(response.statusCode ?? 0);
    });
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('the terminal was granted'));
    });
    socket.once('error', (error) => {
      if (error.message === 'socket hang up') resolve('hung up');
      else reject(error);
    });
  });
}

function dial(server: HotcellServer, id: string, options: TerminalOptions): WebSocket {
  const { path = `/sandboxes/${id}/terminal`, query = '', headers = keyOf(server) } = options;
  return new WebSocket(`${server.url.replace(/^http/, 'ws')}${path}${query}`, { headers });
}
