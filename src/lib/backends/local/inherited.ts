/**
 * Descriptors that sbx was started with besides its streams: a script's lock file, an open folder, a jobserver's pipe.
 * Children would have them too, and a sandbox with a descriptor of a folder of this machine is outside.
 */

import type { StdioOptions } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { hasErrno } from '../../errors.ts';

type Stdio = Exclude<StdioOptions, string>[number];

const CLOSE_ON_EXEC = 0o2000000;
/** At its start node closes those up to here, and on to the first gap, in its children. */
const CLOSED_BY_NODE = 15;
/** Where a list of descriptors for a child would grow long; scripts do not get there. */
const HIGHEST = 255;

let found: readonly number[] | undefined;
let nothing: number | undefined;

/** `stdio` for a child that shall have these descriptors and no others: an inherited one is `/dev/null` there. */
export function onlyThese(stdio: readonly Stdio[]): Stdio[] {
  found ??= inherited();
  const all: Stdio[] = [...stdio];
  for (const fd of found) {
    if (fd < stdio.length && stdio[fd] !== 'ignore') continue;
    nothing ??= openSync('/dev/null', 'r+');
    while (all.length < fd) all.push('ignore');
    all[fd] = nothing;
  }
  return all;
}

/** Holds what is looked for in /proc/self/fdinfo/FD, `flags:` in its second line. */
const beginning = Buffer.alloc(128);

/** Everything of our own closes when another program is started, so what does not was there before us. */
function inherited(): number[] {
  const all = readdirSync('/proc/self/fd').map(Number);
  return all.filter((fd) => {
    if (fd <= CLOSED_BY_NODE || !staysOpen(fd)) return false;
    if (fd <= HIGHEST) return true;
    closeSync(fd);
    return false;
  });
}

function staysOpen(fd: number): boolean {
  let info: number | undefined;
  try {
    info = openSync(`/proc/self/fdinfo/${fd}`, 'r');
    const text = beginning.toString('latin1', 0, readSync(info, beginning, 0, beginning.length, 0));
    const flags = /^flags:\s*(\d+)$/m.exec(text)?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // The one that the folder was read through.
    if (hasErrno(error, 'ENOENT')) return false;
    throw error;
  } finally {
    if (info !== undefined) closeSync(info);
  }
}
