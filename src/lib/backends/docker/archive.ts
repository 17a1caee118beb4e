/**
 * Trees in and out of a container: by the engine, which is faster and needs no tar inside, or by the sandbox's own tar. While
 * the engine reads or writes a tree it holds up all else that concerns the container, new commands too, so it is asked only
 * where the other end keeps up. In, a tree goes to a folder of its own first, because the engine unpacks in place and a
 * cut one would leave half of it.
 */
import type { Readable } from 'node:stream';
import type { Archive, Call, Sandbox } from '../../backend/contract.ts';
import { deriveArchive, whole } from '../../backend/derived/archive.ts';
import { asStream, guestPath, tidyUp } from '../../backend/derived/files-guest.ts';
import { readArchive, writeArchive } from './archive-calls.ts';
import { openStage } from './archive-stage.ts';
import type { Box } from './box.ts';
import { engineView, hidesNothing } from './engine-view.ts';
import { workdirOf } from './exec.ts';

/** The capability `archive`. */
export function archiveOf(box: Box, sandbox: Sandbox): Archive {
  const derived = deriveArchive(sandbox);
  return {
    async read(path, options, call) {
      const { contents, steady, exclude = [] } = options;
      // What is left out need not travel, and the engine leaves out nothing.
      const byEngine = steady === true && exclude.length === 0 && hidesNothing(box, path);
      const found = byEngine ? await engineView(box, path, call) : 'unseen';
      if (found !== 'directory' && (found !== 'file' || contents === true))
        return derived.read(path, options, call);
      const at = absolute(box, path);
      return readArchive(box, contents === true ? `${at}/.` : at, call);
    },
    async write(directory, tar, options, call) {
      const { owner = 'self', steady } = options;
      const found = steady === true ? await engineView(box, directory, call) : 'unseen';
      if (found !== 'directory') return derived.write(directory, tar, options, call);
      try {
        await unpack(box, directory, tar, owner, call);
      } finally {
        tar.destroy();
      }
    },
  };
}

async function unpack(
  box: Box,
  directory: string,
  tar: Readable,
  owner: 'keep' | 'self',
  call: Call,
): Promise<void> {
  const stage = await openStage(box, absolute(box, directory), call);
  try {
    await writeArchive(box, stage.path, asStream(whole(tar)), owner, call);
  } catch (cause) {
    await tidyUp(cause, stage.path, (tidyCall) => stage.end('discard', tidyCall));
  }
  await stage.end('commit', call);
}

function absolute(box: Box, path: string): string {
  return workdirOf(box, guestPath(path));
}
