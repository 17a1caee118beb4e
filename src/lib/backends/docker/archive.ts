/**
 * Trees in and out of a container. In by the engine, which is faster than a command's input and needs no tar inside, where it
 * may do no more than the sandbox's user; a tree goes into a folder of its own first, because the engine unpacks in
 * place and a cut one would leave half of it. Out by the tar inside: engines write names that are not ASCII such that
 * other readers take their files for folders (Go's archive/tar leaves `dir/` of `dir/é` in the old header).
 */
import type { Archive, Sandbox } from '../../backend/contract.ts';
import { deriveArchive } from '../../backend/derived/archive.ts';
import { writeArchive } from './archive-calls.ts';
import type { Box } from './box.ts';
import { workdirOf } from './exec.ts';

const ROOT = ['0', 'root', '0:0', 'root:root'];

/** The capability `archive`. */
export function archiveOf(box: Box, sandbox: Sandbox): Archive {
  // A container that sbx did not make has a user of its own.
  if (box.facts === undefined || !ROOT.includes(box.user ?? 'root')) return deriveArchive(sandbox);
  return deriveArchive(sandbox, (path, tar, owner, call) =>
    writeArchive(box, workdirOf(box, path.replace(/^\.\/(?=-)/, '')), tar, owner, call),
  );
}
