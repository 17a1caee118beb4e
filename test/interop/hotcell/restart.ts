/** What is still known when the server has ended and another goes on in its folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Api, createApi } from './api.ts';
import type { Harness } from './harness.ts';
import type { SandboxRecord, Session, Token } from './shapes.ts';

export function restartTopic(h: Harness): void {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hotcell-state-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs `use` with a server in the folder, which ends after it. */
  const serve = async (use: (api: Api) => Promise<void>) => {
    const server = await h.start({ folder });
    try {
      await use(createApi(() => server));
    } finally {
      await server.close();
    }
  };

  h.when(h.has('restart'))('sandboxes, sessions, tokens and backups', async () => {
    const asked = { labels: { a: 'b' }, env: { C: 'd' }, sleepAfter: 3_600_000 };
    let record: SandboxRecord | undefined;
    let session: Session | undefined;
    let granted: Token | undefined;
    let backup: { readonly backupId: string } | undefined;
    let to: `/${string}` = '/';
    await serve(async (api) => {
      const { id } = await api.answer<SandboxRecord>(201, 'POST /sandboxes', asked);
      to = `/sandboxes/${id}`;
      await api.answer(200, `POST ${to}/files/write`, { path: '/workspace/file', content: 'kept' });
      session = await api.answer(201, `POST ${to}/sessions`, { id: 'one', env: { E: 'f' } });
      granted = await api.answer(201, `POST ${to}/egress-tokens`, { spendCapUsd: 1 });
      backup = await api.answer(201, `POST ${to}/backups`);
      record = await api.answer(200, `GET ${to}`);
    });
    await serve(async (api) => {
      expect(await api.answer(200, `GET ${to}`)).toStrictEqual({ ...record, usage: expect.any(Object) });
      expect(await api.answer(200, `GET ${to}/sessions`)).toStrictEqual({ sessions: [session] });
      expect(await api.answer(200, `GET ${to}/egress-tokens`)).toMatchObject({
        tokens: [{ token: granted?.token, policy: { spendCapUsd: 1 } }],
      });
      expect(await api.answer(200, 'GET /backups')).toStrictEqual({ backups: [backup] });
      const id = String(record?.id);
      expect(await api.say(id, 'cat file; echo $C$E', { sessionId: 'one' })).toBe('keptdf');
      await api.answer(200, `DELETE /backups/${backup?.backupId}`);
      await api.answer(200, `DELETE ${to}`);
    });
  });
}
