import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Files } from '../../../src/lib/backend/contract.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { failureOf } from '../../../src/lib/server/http/refusal.ts';
import { fileRoutes } from '../../../src/lib/server/routes/files.ts';
import { ID, servedSandbox } from './served-sandbox.ts';

const LIMIT = 1000;

/** What a route answers. */
async function ask(verb: string, body: object, files: Partial<Files>): Promise<unknown> {
  const { fleet } = servedSandbox({ can: { files: files as Files } });
  const routes = fileRoutes({ fleet, having: () => [], settings: { bodyLimit: LIMIT } } as never);
  const route = routes.find(({ path }) => path.endsWith(`/${verb}`));
  let answer: unknown;
  const json = (status: number, value: unknown) => {
    answer = { status, body: value };
  };
  const exchange = { params: { id: ID }, body, signal: new AbortController().signal, json };
  try {
    await route?.handle(exchange as never);
  } catch (error) {
    const { status, body } = failureOf(error);
    answer = { status, body };
  }
  return answer;
}

describe('files', () => {
  test('a file is read up to the cap and no further', async () => {
    const read = (bytes: number) =>
      ask('read', { path: 'x' }, { read: async () => Readable.from([Buffer.alloc(bytes, 'x')]) });
    expect(await read(LIMIT)).toEqual({ status: 200, body: { content: 'x'.repeat(LIMIT) } });
    expect(await read(LIMIT + 1)).toMatchObject({ status: 413 });
  });

  test('a file without end is not read to it', async () => {
    let made = 0;
    const endless = function* () {
      for (; ; made++) yield Buffer.alloc(10);
    };
    const files = { read: async () => Readable.from(endless()) };
    expect(await ask('read', { path: '/dev/zero' }, files)).toMatchObject({ status: 413 });
    expect(made).toBeLessThan(LIMIT);
  });

  test('so is a list', async () => {
    const files: Partial<Files> = {
      async *list() {
        for (;;) yield { name: 'a', type: 'other', size: 1 } as never;
      },
    };
    expect(await ask('list', { path: 'x' }, files)).toMatchObject({ status: 413 });
  });

  test.each([
    ['failed', 400],
    ['not_found', 404],
    ['conflict', 409],
    ['unsupported', 501],
  ] as const)('what is %s is %i', async (code, status) => {
    const files: Partial<Files> = {
      makeDirectory: async () => {
        throw new SbxError(code, 'cannot', { hint: 'try' });
      },
    };
    expect(await ask('mkdir', { path: 'x' }, files)).toEqual({ status, body: { error: 'cannot' } });
  });
});
