/**
 * Podman gives a connection up when a command has ended and left input unread, and with it what the command printed last; its
 * own error it writes among those of the command. Seen with 4.3. Nothing tells whether anything was lost.
 */
import { unhurried } from '../../backend/unhurried.ts';
import type { Box } from './box.ts';

/** Says so, where the engine is Podman. For connections that broke while a command had its input for itself. */
export async function tellOfUnreadInput({ docker, name }: Box): Promise<void> {
  if (!(await docker.engine.version(unhurried)).isPodman) return;
  docker.notice(
    `a command in sandbox '${name}' did not read all of its input: Podman may have dropped the end of its output`,
  );
}
