/** Single files and folders of a sandbox, with their content as text. */
import { Readable } from 'node:stream';
import Type from 'typebox';
import type { Call, Files } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import type { Daemon } from '../daemon.ts';
import { failureOf, HttpRefusal } from '../http/refusal.ts';
import { type Exchange, type Route, route } from '../http/route.ts';

const path = Type.String({ minLength: 1 });
const done = { description: 'it is done', body: Type.Object({ ok: Type.Literal(true) }) };
const entry = Type.Object({
  name: Type.String(),
  type: Type.Union([Type.Literal('file'), Type.Literal('directory')]),
  size: Type.Number(),
});

/** Bytes of an entry besides its name, about. */
const ENTRY_BYTES = 64;

export function fileRoutes({ fleet, having, settings }: Daemon): Route[] {
  const work = async <T>(
    { params, signal }: Pick<Exchange, 'params' | 'signal'>,
    act: (files: Files, call: Call) => Promise<T>,
  ): Promise<T> => {
    using use = await fleet.use(params.id ?? '', { signal });
    try {
      return await act(need(use.sandbox, 'files', having), { signal });
    } catch (error) {
      if (error instanceof SbxError) throw plainly(error);
      throw error;
    }
  };
  /** Counts what an answer will hold. */
  const counter = (what: string) => {
    let size = 0;
    return (bytes: number) => {
      size += bytes;
      if (size > settings.bodyLimit)
        throw new HttpRefusal(413, `${what} is larger than ${settings.bodyLimit} bytes`);
    };
  };
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/files/write',
      summary: 'write a file, whole or not at all; folders above it are made',
      body: Type.Object({
        path,
        content: Type.String(),
        mode: Type.Optional(Type.String({ pattern: '^[0-7]{1,4}$' })),
      }),
      answers: { 200: done },
      async handle(exchange) {
        const { path, content, mode } = exchange.body;
        const options = { parents: true, mode: mode === undefined ? undefined : Number.parseInt(mode, 8) };
        await work(exchange, (files, call) =>
          files.write(path, Readable.from(Buffer.from(content)), options, call),
        );
        exchange.json(200, { ok: true });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/files/read',
      summary: 'the content of a file, as UTF-8',
      body: Type.Object({ path }),
      answers: { 200: { description: 'it', body: Type.Object({ content: Type.String() }) } },
      async handle(exchange) {
        const parts: Buffer[] = [];
        await work(exchange, async (files, call) => {
          const count = counter('the file');
          for await (const part of (await files.read(exchange.body.path, call)) as AsyncIterable<Buffer>) {
            count(part.length);
            parts.push(part);
          }
        });
        exchange.json(200, { content: Buffer.concat(parts).toString('utf8') });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/files/mkdir',
      summary: 'make a folder; with `parents` those above it too, and one that is there is no error',
      body: Type.Object({ path, parents: Type.Optional(Type.Boolean()) }),
      answers: { 200: done },
      async handle(exchange) {
        const { path, parents = false } = exchange.body;
        await work(exchange, (files, call) => files.makeDirectory(path, { parents }, call));
        exchange.json(200, { ok: true });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/files/list',
      summary: 'what a folder holds',
      body: Type.Object({ path }),
      answers: { 200: { description: 'its entries', body: Type.Object({ entries: Type.Array(entry) }) } },
      async handle(exchange) {
        const entries: Type.Static<typeof entry>[] = [];
        await work(exchange, async (files, call) => {
          const count = counter('the list');
          for await (const { name, type, size } of files.list(exchange.body.path, call)) {
            count(Buffer.byteLength(name) + ENTRY_BYTES);
            entries.push({ name, type: type === 'directory' ? type : 'file', size });
          }
        });
        exchange.json(200, { entries });
      },
    }),
  ];
}

/** In the API's own words. That something is a folder, or none, is for the client to put right. */
function plainly(error: SbxError): HttpRefusal {
  return new HttpRefusal(error.code === 'failed' ? 400 : failureOf(error).status, error.message);
}
