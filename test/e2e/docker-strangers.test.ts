/** Engines that are too old, and what is no engine: every verb says so. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as httpServer } from 'node:http';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { startGoBetween } from '../support/engines/go-between.ts';
import { engineHost, onEngine } from '../support/engines/shared.ts';
import { requireOrSkip } from '../support/require.ts';

const always = requireOrSkip(true, '');

let folder: string;
let client: EngineClient;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-strangers-'));
  client = engineClient(folder, `unix://${folder}/socket`);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The verbs that begin in different ways. */
const VERBS = [
  ['ls', '--backend', 'engine'],
  ['info', 'box'],
  ['create', 'box', '--image', 'x'],
  ['cp', 'box:/x', '-'],
  ['logs', 'box'],
  ['ps', 'box'],
  ['ports', 'box'],
  ['stats', 'box'],
  ['start', 'box'],
  ['rm', 'box', '--yes'],
  ['fork', 'box', 'copy'],
  ['snapshot', 'ls', '--backend', 'engine'],
  ['snapshot', 'create', 'box'],
  ['prune', '--backend', 'engine', '--yes'],
] as const;

/** All verbs say `what`, and give a hint. */
async function expectAll(what: RegExp): Promise<void> {
  const ends = await Promise.all(
    VERBS.map(async (words) => [words, await client.start(...words).ended] as const),
  );
  for (const [words, ended] of ends)
    expect(ended, words.join(' ')).toMatchObject({ code: 6, stderr: expect.stringMatching(what) });
  for (const [words, { stderr }] of ends) expect(stderr, words.join(' ')).toMatch(/^hint: /m);
  for (const verb of ['exec', 'run'])
    expect(
      await client.start(verb, ...(verb === 'run' ? ['--image', 'x'] : ['box']), '--', 'true').ended,
    ).toMatchObject({
      ...{ code: 125, stderr: expect.stringMatching(what) },
    });
}

async function listening(server: Server): Promise<AsyncDisposable> {
  server.listen(`${folder}/socket`);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

describe('every verb says so when the engine', () => {
  onEngine('is too old', async () => {
    await using _ = await startGoBetween(engineHost ?? '', `${folder}/socket`, (said) =>
      said.replace(/(?<=Api-Version: )1\.\d\d/i, '1.30'),
    );
    await expectAll(/speaks API 1\.30; sbx needs 1\.40 or newer/);
  });

  always('is another kind of server', async () => {
    await using _server = await listening(httpServer((_, answer) => answer.writeHead(404).end('hello')));
    await expectAll(/is no Docker engine/);
  });

  always('sends more and more and is none', async () => {
    await using _server = await listening(
      httpServer((_, answer) => {
        answer.write('hello');
        answer.on('error', () => answer.destroy());
      }),
    );
    expect(await client.start('ls', '--backend', 'engine').ended).toMatchObject({ code: 6 });
  });
});
