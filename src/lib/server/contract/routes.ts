/** The contract over HTTP, for clients of ours: values, lists, and bodies that are streams of bytes. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Type from 'typebox';
import type { Call } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import type { Daemon } from '../daemon.ts';
import { checker } from '../http/body.ts';
import { failureWithin, HttpRefusal } from '../http/refusal.ts';
import { type Exchange, type Route, route } from '../http/route.ts';
import { LISTS, type Operation, VALUES } from './calls.ts';

const anyArgs = Type.Record(Type.String(), Type.Unknown());
const bytes = {
  description: 'bytes; cut short when something fails',
  type: 'application/octet-stream',
} as const;

export function contractRoutes(daemon: Daemon): Route[] {
  const checks = new Map(
    Object.entries({ ...VALUES, ...LISTS }).map(([name, { args }]) => [name, checker(args)]),
  );
  const find = <R>(
    table: Readonly<Record<string, Operation<R>>>,
    { params, body }: Pick<Exchange, 'params' | 'body'>,
  ) => {
    const name = params.name ?? '';
    const found = Object.hasOwn(table, name) ? table[name] : undefined;
    if (found === undefined) throw new HttpRefusal(404, `no operation ${name}`);
    checks.get(name)?.(body, 'the body');
    return found;
  };
  const hold = (
    operation: Pick<Operation<unknown>, 'asleep'>,
    { params, signal }: Pick<Exchange, 'params' | 'signal'>,
  ) => daemon.fleet[operation.asleep === true ? 'look' : 'use'](params.id ?? '', { signal });
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/calls/:name',
      summary: 'an operation with one answer, by its name',
      body: anyArgs,
      answers: { 200: { description: '`{value}`', body: Type.Object({ value: Type.Unknown() }) } },
      async handle(exchange) {
        const operation = find(VALUES, exchange);
        using use = await hold(operation, exchange);
        const value = await operation.run(
          use.sandbox,
          exchange.body as never,
          { signal: exchange.signal },
          daemon.having,
        );
        exchange.json(200, { value });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/lists/:name',
      summary: 'an operation with many answers, by its name',
      body: anyArgs,
      answers: {
        200: {
          description: '`{item}` a line, and in the end `{end: true}` or `{error}`',
          type: 'application/x-ndjson',
        },
      },
      async handle(exchange) {
        const operation = find(LISTS, exchange);
        using use = await hold(operation, exchange);
        const { signal } = exchange;
        const items = operation.run(use.sandbox, exchange.body as never, { signal }, daemon.having);
        await lines(exchange, items);
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/content',
      summary: 'the bytes of the file `?path=`',
      answers: { 200: bytes },
      async handle(exchange) {
        using use = await hold({}, exchange);
        const files = need(use.sandbox, 'files', daemon.having);
        await sendBytes(exchange, (call) => files.read(required(exchange.query, 'path'), call));
      },
    }),
    route({
      method: 'PUT',
      path: '/sandboxes/:id/content',
      summary: 'write the file `?path=`, whole or not at all; `?mode=`, `?parents=1`',
      answers: { 204: { description: 'it is written' } },
      async handle(exchange) {
        using use = await hold({}, exchange);
        const { query, request, response, signal } = exchange;
        const mode = query.get('mode');
        if (mode !== null && !/^[0-7]{1,4}$/.test(mode)) throw new HttpRefusal(400, 'mode must be octal');
        await need(use.sandbox, 'files', daemon.having).write(
          required(query, 'path'),
          wholeBody(request),
          {
            mode: mode === null ? undefined : Number.parseInt(mode, 8),
            parents: query.get('parents') === '1',
          },
          { signal },
        );
        response.writeHead(204).end();
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/archive',
      summary:
        'a tar of `?path=`; `?contents=1`, `?dereference=1`, `?exclude=PATTERN`, which may be repeated',
      answers: { 200: bytes },
      async handle(exchange) {
        using use = await hold({}, exchange);
        const { query } = exchange;
        const options = {
          contents: query.get('contents') === '1',
          dereference: query.get('dereference') === '1',
          exclude: query.getAll('exclude'),
        };
        const archive = need(use.sandbox, 'archive', daemon.having);
        await sendBytes(exchange, (call) => archive.read(required(query, 'path'), options, call));
      },
    }),
    route({
      method: 'PUT',
      path: '/sandboxes/:id/archive',
      summary: 'unpack a tar into the folder `?path=`; `?owner=keep` or `self`',
      answers: { 204: { description: 'all is written' } },
      async handle(exchange) {
        using use = await hold({}, exchange);
        const { query, request, response, signal } = exchange;
        const owner = query.get('owner') === 'keep' ? 'keep' : 'self';
        await need(use.sandbox, 'archive', daemon.having).write(
          required(query, 'path'),
          wholeBody(request),
          { owner },
          { signal },
        );
        response.writeHead(204).end();
      },
    }),
  ];
}

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null || value === '') throw new HttpRefusal(400, `?${name}= is required`);
  return value;
}

/** Answers 200 once there is a stream; what fails before is an answer of its own. */
async function sendBytes(
  { response, signal }: Pick<Exchange, 'response' | 'signal'>,
  open: (call: Call) => Promise<Readable>,
): Promise<void> {
  const body = await open({ signal });
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    'X-Content-Type-Options': 'nosniff',
  });
  // A failure breaks the connection off, so that nobody takes a part for the whole.
  await pipeline(body, response);
}

/** A body as a stream that fails when the client goes before its end. */
function wholeBody(request: Readable): Readable {
  return Readable.from(request, { objectMode: false });
}

async function lines(
  { response, signal }: Pick<Exchange, 'response' | 'signal'>,
  items: AsyncIterable<unknown>,
): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson', 'X-Content-Type-Options': 'nosniff' });
  response.flushHeaders();
  const source = async function* () {
    try {
      for await (const item of items) yield `${JSON.stringify({ item })}\n`;
      signal.throwIfAborted();
      yield '{"end":true}\n';
    } catch (error) {
      yield `${JSON.stringify(failureWithin(signal.aborted ? signal.reason : error))}\n`;
    }
  };
  await pipeline(source, response);
}
