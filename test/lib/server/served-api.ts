/** Our server over the local backend for the tests of one file, with a folder of its own that outlives a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Api, createApi } from '../../interop/hotcell/api.ts';
import type { HotcellServer, Settings } from '../../interop/hotcell/server.ts';
import { startServe, whyUnavailable } from '../../interop/hotcell-serve.ts';
import { requireOrSkip } from '../../support/require.ts';

export const unavailable = await whyUnavailable();

/** Declares a test that needs the local backend. */
export const test = requireOrSkip(unavailable === undefined, unavailable ?? 'the local backend');

export interface ServedApi {
  readonly api: Api;
  /** The server that runs now. */
  server(): HotcellServer;
  folder(): string;
  /** Ends the server and starts another one where it ended, after this was done to the folder. */
  restart(meanwhile?: () => void): Promise<void>;
}

/** Serves while the tests of a file run; what they leave is removed. */
export function servedApi(settings: Settings = {}): ServedApi {
  let folder = '';
  let server: HotcellServer;
  const api = createApi(() => server);
  const start = async () => {
    server = await startServe({ ...settings, folder });
  };
  beforeAll(async () => {
    if (unavailable !== undefined) return;
    folder = await mkdtemp(join(tmpdir(), 'sbx-served-'));
    await start();
  });
  afterAll(async () => {
    if (unavailable !== undefined) return;
    const { sandboxes } = await api.answer<{ sandboxes: { id: string }[] }>(200, 'GET /sandboxes');
    for (const { id } of sandboxes) await api.answer(200, `DELETE /sandboxes/${id}`);
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    api,
    server: () => server,
    folder: () => folder,
    async restart(meanwhile) {
      await server.close();
      meanwhile?.();
      await start();
    },
  };
}
