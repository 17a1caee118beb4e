/** Tars out of and into a container, running or not. Docker Engine API, "ContainerArchive" and "PutContainerArchive". */
import { Readable } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';

/** A tar of the absolute `path`; `not_found` when it is missing. Fails as `unreachable` when the connection breaks. */
export async function readArchive(box: Box, path: string, call: Call): Promise<Readable> {
  const { body } = await box.docker.engine.send(
    {
      method: 'GET',
      path: `/containers/${segment(box.container)}/archive`,
      query: { path },
      what: `read ${path} in sandbox '${box.name}'`,
    },
    call,
  );
  return body;
}

/** Unpacks a tar into the directory `path`. @param owner `self`: all becomes the container's user's, who is root. */
export async function writeArchive(
  box: Box,
  path: string,
  tar: Readable,
  owner: 'keep' | 'self',
  call: Call,
): Promise<void> {
  let broken: unknown;
  // One that breaks off is ended, not cut off: the engine answers when it has let go of the folder, and not before.
  async function* calmly(): AsyncGenerator<Buffer> {
    try {
      yield* tar as AsyncIterable<Buffer>;
    } catch (error) {
      broken = error;
    }
  }
  const request = {
    method: 'PUT',
    path: `/containers/${segment(box.container)}/archive`,
    query: { path, copyUIDGID: owner === 'self' },
    stream: Readable.from(calmly(), { objectMode: false }),
    what: `write to ${path} in sandbox '${box.name}'`,
  } as const;
  try {
    await box.docker.engine.json(request, call);
  } catch (error) {
    throw broken ?? error;
  }
  if (broken !== undefined) throw broken;
}
