/**
 * Trees in and out of a container: by the sandbox's own tar where commands start past the engine, else by the engine, which
 * then is faster, and needs no tar inside. While the engine reads or writes a tree it holds up all else that concerns the
 * container, new commands too, so it is asked only where the other end keeps up. In, a tree goes to a folder of its own first,
 * because the engine unpacks in place and a cut one would leave half of it.
 */
import type { Readable } from 'node:stream';
import type { Archive, Call, Sandbox } from '../../backend/contract.ts';
import { deriveArchive, unpackInside, whole } from '../../backend/derived/archive.ts';
import { asStream, guestPath, tidyUp } from '../../backend/derived/files-guest.ts';
import { SbxError } from '../../errors.ts';
import { readArchive, writeArchive } from './archive-calls.ts';
import { openStage } from './archive-stage.ts';
import type { Box } from './box.ts';
import { engineView, hidesNothing } from './engine-view.ts';
import { workdirOf } from './exec.ts';
import { isServed } from './exec-piped.ts';

/** The capability `archive`. */
export function archiveOf(box: Box, sandbox: Sandbox): Archive {
  const derived = deriveArchive(sandbox);
  return {
    async read(path, options, call) {
      const { contents, steady, exclude = [] } = options;
      if (isServed(box)) {
        const tree = await withTar(() => derived.read(path, options, call));
        if (tree !== undefined) return tree;
      }
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
      try {
        const inside = () => unpackInside(sandbox, directory, tar, owner, call).then(() => true);
        if (isServed(box) && (await withTar(inside)) === true) return;
        const found = steady === true ? await engineView(box, directory, call) : 'unseen';
        if (found === 'directory') await unpack(box, directory, tar, owner, call);
        else await inside();
      } finally {
        tar.destroy();
      }
    },
  };
}

/** What `act` comes to; undefined when there is no tar inside. */
async function withTar<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof SbxError && error.code === 'unsupported') return undefined;
    throw error;
  }
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
