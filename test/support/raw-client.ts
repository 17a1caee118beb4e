/** A connection to a server without a client's manners: bytes as they are. */
import { connect, type Socket } from 'node:net';

export interface RawClient {
  readonly socket: Socket;
  /** All that came, as Latin-1. */
  said(): string;
  /** Resolves with all that came once it matches; rejects when the connection ends without that. */
  until(wanted: RegExp): Promise<string>;
  /** Resolves with all that came when the connection has ended. */
  readonly closed: Promise<string>;
}

/** Connects to the server at `url`. */
export function rawClient(url: string): RawClient {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const looks = new Set<() => void>();
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  let said = '';
  let over = false;
  const look = () => {
    for (const each of [...looks]) each();
  };
  socket.on('data', (data) => {
    said += data.toString('latin1');
    look();
  });
  // That it broke is told by its close.
  socket.on('error', () => undefined);
  socket.once('close', () => {
    over = true;
    look();
    resolve(said);
  });
  return {
    socket,
    said: () => said,
    closed,
    until: (wanted) =>
      new Promise((found, reject) => {
        const see = () => {
          if (wanted.test(said)) found(said);
          else if (over) reject(new Error(`the connection ended before ${wanted}: ${said.slice(-500)}`));
          else return;
          looks.delete(see);
        };
        looks.add(see);
        see();
      }),
  };
}
