/** Makes something under a made-up name, with another one when it is taken. */
import { SbxError } from '../errors.ts';
import { randomName } from '../util/name.ts';

const TRIES = 8;

/** `make` must reject with `conflict`, having made nothing, when the name is taken. */
export async function withFreeName<T>(make: (name: string) => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left--) {
    try {
      return await make(randomName());
    } catch (error) {
      if (left <= 1 || !isConflict(error)) throw error;
    }
  }
}

/** Whether `error` says that a name is taken. */
export function isConflict(error: unknown): boolean {
  return error instanceof SbxError && error.code === 'conflict';
}
