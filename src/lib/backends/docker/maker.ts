/**
 * The tie between a container that is being furnished and this process: its standard input. Process 1 waits there for
 * "go"; when this process dies first it reads the end, and the container stops. A stopped one whose name says that it is
 * unfinished is removed by the next listing.
 */
import type { Call } from '../../backend/contract.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';

export interface Maker {
  /** The container is a sandbox now. */
  finish(call: Call): Promise<void>;
  /** It will never be one. An engine keeps the connection of a container that it has removed. */
  giveUp(): void;
}

/** Attaches to a container that has not started yet. */
export async function attachMaker(box: Box, call: Call): Promise<Maker> {
  const connection = await box.docker.engine.upgrade(
    {
      method: 'POST',
      path: `/containers/${segment(box.container)}/attach`,
      query: { stream: true, stdin: true },
      what: `furnish sandbox '${box.name}'`,
    },
    call,
  );
  connection.on('error', () => connection.destroy());
  connection.resume();
  return {
    finish: () =>
      new Promise((resolve) => {
        connection.end('go\n', () => resolve());
      }),
    giveUp: () => void connection.destroy(),
  };
}
