/** The programs that run a command under the eyes of its client, put together from their parts. */

import watched from './exec.sh';
import attached from './exec-attached.sh';
import become from './exec-become.sh';
import control from './exec-control.sh';
import watch from './exec-watch.sh';

/** For clients that hold descriptor 3. */
export const watchedCommand = `${watch}${watched}${become}`;

/** For engines that attach a command's streams to a connection. */
export const attachedCommand = `${watch}${attached}${become}`;

/** The watcher alone, for an {@link attachedCommand} whose input is not the client's lines. */
export const commandControl = `${watch}${control}`;

/** Where the sandbox keeps the changes to its environment, as text for a shell: see exec-attached.sh. */
export const ENVIRONMENT_FILE = '/var/lib/sbx/env';
