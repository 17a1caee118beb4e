/** Connections between two requests. */
import type { Duplex } from 'node:stream';

/** How long one is kept, in milliseconds: less than servers wait. */
const KEEP_MS = 4000;
/** Whatever happens on it, it is of no more use: nobody asked for anything. */
const EVENTS = ['data', 'end', 'error', 'close'] as const;

export interface IdleConnections {
  /** The one that was used last. */
  take(): Duplex | undefined;
  /** It does not keep this process alive. */
  keep(connection: Duplex): void;
  /** Closes all of them. */
  close(): void;
}

export function idleConnections(): IdleConnections {
  /** Each with what takes it out. */
  const idle = new Map<Duplex, () => void>();
  return {
    take() {
      for (const [connection, leave] of [...idle].reverse()) {
        leave();
        if (connection.writable) return connection;
        discard(connection);
      }
      return undefined;
    },
    keep(connection) {
      const leave = () => {
        clearTimeout(timer);
        for (const event of EVENTS) connection.off(event, drop);
        idle.delete(connection);
        reference(connection, 'ref');
      };
      const drop = () => {
        leave();
        discard(connection);
      };
      const timer = setTimeout(drop, KEEP_MS);
      timer.unref();
      for (const event of EVENTS) connection.on(event, drop);
      idle.set(connection, leave);
      reference(connection, 'unref');
      // Its end is noticed only while it is read.
      connection.resume();
    },
    close() {
      for (const [connection, leave] of idle) {
        leave();
        discard(connection);
      }
    },
  };
}

/** Closes a connection. An error that is on its way has nobody to hear it. */
export function discard(connection: Duplex): void {
  connection.on('error', () => undefined).destroy();
}

/** Sockets and programs can keep this process alive or not; other streams never do. */
function reference(connection: Duplex & { ref?(): unknown; unref?(): unknown }, how: 'ref' | 'unref'): void {
  connection[how]?.();
}
