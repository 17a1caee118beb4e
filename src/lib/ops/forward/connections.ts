/** The connections of a forward: each is joined with its other side and fails alone. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { breakStream, joinStreams } from '../../transport/join.ts';

/** Opens the other side of a connection. */
export type OpenOther = (signal: AbortSignal) => Promise<Duplex>;

export interface Connections {
  /** Carries one accepted connection to its end. Never rejects: what goes wrong is told to the hooks. */
  carry(accepted: Duplex, open: OpenOther): Promise<void>;
  /** Breaks all of them. */
  breakAll(): void;
  /** How many are open. */
  readonly size: number;
}

export interface ConnectionHooks {
  /** The other side could not be opened; the accepted connection was closed. */
  readonly refused: (error: unknown) => void;
  readonly accepted: () => void;
  /** A connection broke on the way. */
  readonly broken: (error: Error) => void;
}

/** @param signal ends the opening of connections; {@link Connections.breakAll} ends those that are open. */
export function trackConnections(hooks: ConnectionHooks, signal: AbortSignal): Connections {
  const open = new Set<Duplex>();
  return {
    async carry(accepted, openOther) {
      const gone = new AbortController();
      const leave = () => gone.abort();
      open.add(accepted);
      accepted.on('error', leave);
      accepted.once('close', leave);
      try {
        const other = await openOther(AbortSignal.any([signal, gone.signal]));
        open.add(other);
        try {
          other.on('error', leave);
          if (other instanceof Socket) other.setNoDelay(true);
          hooks.accepted();
          const broke = await joinStreams(accepted, other);
          if (broke !== undefined) hooks.broken(broke);
        } finally {
          open.delete(other);
        }
      } catch (error) {
        // Nobody is left to be told when the accepted side went away or everything ends.
        if (!gone.signal.aborted && !signal.aborted) hooks.refused(error);
        breakStream(accepted);
      } finally {
        open.delete(accepted);
      }
    },
    breakAll() {
      for (const stream of open) breakStream(stream);
    },
    get size() {
      return open.size;
    },
  };
}
