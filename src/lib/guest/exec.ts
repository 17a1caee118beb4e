/** The programs that run a command under the eyes of its client, put together from their parts. */

import watched from './exec.sh';
import attached from './exec-attached.sh';
import become from './exec-become.sh';
import control from './exec-control.sh';
import environment from './exec-environment.sh';
import piped from './exec-piped.sh';
import server from './exec-server.sh';
import text from './exec-text.sh';
import typed from './exec-typed.sh';
import watch from './exec-watch.sh';

/** For clients that hold descriptor 3. */
export const watchedCommand = `${watch}${watched}${become}`;

/** For engines that attach a command's streams to a connection. */
export const attachedCommand = `${watch}${attached}${environment}${become}`;

/** The watcher alone, for an {@link attachedCommand} whose input is not the client's lines. */
export const commandControl = `${watch}${control}`;

/** For clients that share a folder with the sandbox, in which it lies: it starts a command for each request there. */
export const commandServer = `${watch}sbx_run() {\n${piped}${environment}${become}}\n${server}`;

/** For servers that run shell text and carry text alone. */
export const textCommand = `${watch}sbx_run() {\n${become}}\n${text}`;

/** For servers that open a shell on a terminal; before it comes what is to be run. */
export const typedCommand = `sbx_run() {\n${become}}\n${typed}`;

/** The functions that end a command, for shell text of a client that knows its process and its mark. */
export const commandWatch = watch;

/** Where the sandbox keeps the changes to its environment, as text for a shell: see exec-environment.sh. */
export const ENVIRONMENT_FILE = '/var/lib/sbx/env';
