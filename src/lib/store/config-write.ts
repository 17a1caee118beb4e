/** Changes the configuration. Apart from `config.ts`, because the library that writes it is too slow to load in every verb. */
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Call } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { type Config, configPath, readConfig, validateConfig } from './config.ts';
import { fileError } from './file-error.ts';
import { removeLeftovers, syncFolder, temporaryPrefix, writableTarget } from './json-file.ts';
import { type LockHolder, withLock } from './lock.ts';

/**
 * Applies `change` to what the file holds now, under a lock, so that nothing another process wrote is lost.
 * `onWait` is told who keeps it waiting, once that takes two seconds.
 * @returns the new configuration.
 * @throws SbxError `failed` with the path when the file is no good or cannot be written; it is then as it was.
 */
export async function changeConfig(
  folder: string,
  call: Call,
  change: (present: Config) => Config,
  onWait?: (holder: LockHolder) => void,
): Promise<Config> {
  const path = configPath(folder);
  return withLock(
    `${path}.lock`,
    call,
    async () => {
      removeLeftovers(path);
      const next = checked(change(readConfig(folder)));
      await replace(path, next);
      return next;
    },
    { purpose: 'changing the configuration', ...(onWait === undefined ? {} : { onWait }) },
  );
}

function checked(config: Config): Config {
  try {
    return validateConfig(config);
  } catch (error) {
    throw new SbxError('usage', `this would make the configuration invalid: ${(error as Error).message}`);
  }
}

/**
 * Lets conf write the new file in a folder beside the old one and moves it into place once it has been read back: by
 * itself conf takes a short write on a full disk for a whole one, and renames it over the old file.
 */
async function replace(path: string, config: Config): Promise<void> {
  const { default: Conf } = await import('conf');
  let stage: string | undefined;
  try {
    const target = writableTarget(path);
    stage = join(dirname(target), `${temporaryPrefix(target)}${process.pid}.tmp`);
    mkdirSync(stage, { mode: 0o700 });
    const store = new Conf<Record<string, unknown>>({
      cwd: stage,
      configName: 'config',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: (value) => `${JSON.stringify(value, null, 2)}\n`,
    });
    store.store = { ...config };
    if (!isDeepStrictEqual(parsed(readFileSync(store.path, 'utf8')), JSON.parse(JSON.stringify(config)))) {
      throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
    }
    renameSync(store.path, target);
    syncFolder(dirname(target));
  } catch (error) {
    throw fileError('cannot write', path, error);
  } finally {
    if (stage !== undefined) rmSync(stage, { recursive: true, force: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
