import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Handled } from '../../../src/lib/server/http/dispatch.ts';
import { requestLine } from '../../../src/lib/server/request-log.ts';
import { openTraces, SPANS_KEPT } from '../../../src/lib/server/traces.ts';

const handled = (fields: Partial<Handled> = {}): Handled => ({
  method: 'DELETE',
  route: '/sandboxes/:id/egress-tokens/:token',
  target: '/sandboxes/sb1/egress-tokens/:sub',
  status: 200,
  startedAt: 1000,
  ms: 5,
  ...fields,
});

test('a span has the route for its name, and what the API says of it', async () => {
  const traces = await openTraces(undefined);
  const traceId = traces.add(handled());
  traces.add(handled({ route: '-', target: '-', status: 404 }));
  traces.add(handled({ status: 500 }));
  traces.add(handled({ method: 'WS', route: '/sandboxes/:id/terminal', connected: 'sb1', status: 101 }));
  const [terminal, failed, nowhere, first] = traces.latest(10);
  expect(first).toStrictEqual({
    name: 'DELETE /sandboxes/:id/egress-tokens/:sub',
    traceId,
    startTime: 1000,
    endTime: 1005,
    status: 'ok',
    attributes: {
      'http.method': 'DELETE',
      'http.target': '/sandboxes/sb1/egress-tokens/:sub',
      'http.status_code': 200,
    },
  });
  expect(nowhere).toMatchObject({ name: 'DELETE -', status: 'ok' });
  expect(failed?.status).toBe('error');
  expect(terminal).toMatchObject({
    name: 'WS /sandboxes/:id/terminal',
    attributes: { 'sandbox.id': 'sb1' },
  });
  expect(JSON.parse(requestLine(handled(), traceId))).toMatchObject({ traceId });
  await traces.close();
});

test('only the latest are kept', async () => {
  const traces = await openTraces(undefined);
  for (let round = 0; round < SPANS_KEPT + 5; round++) traces.add(handled({ startedAt: round }));
  const kept = traces.latest(SPANS_KEPT * 2);
  expect(kept).toHaveLength(SPANS_KEPT);
  expect(kept.at(-1)?.startTime).toBe(5);
  await traces.close();
});

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly object[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly { readonly name: string; readonly traceId: string }[];
    }[];
  }[];
}

test('a collector gets them by OTLP over HTTP, at the latest when the server ends', async () => {
  const got = Promise.withResolvers<{ request: IncomingMessage; sent: Sent }>();
  const collector = createServer(async (request, response) => {
    got.resolve({ request, sent: (await json(request)) as Sent });
    response.end('{}');
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const traces = await openTraces(`http://127.0.0.1:${port}/base/`);
  const traceId = traces.add(handled());
  await traces.close();
  const { request, sent: all } = await got.promise;
  expect([request.method, request.url]).toEqual(['POST', '/base/v1/traces']);
  const [sent] = all.resourceSpans;
  expect(sent?.resource.attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'sbx' } });
  expect(sent?.scopeSpans[0]?.spans).toMatchObject([
    { name: 'DELETE /sandboxes/:id/egress-tokens/:sub', traceId },
  ]);
  collector.close();
});

test('a collector that is gone holds up nothing', async () => {
  const collector = createServer().listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  collector.close();
  await once(collector, 'close');
  const traces = await openTraces(`http://127.0.0.1:${port}`);
  traces.add(handled());
  await traces.close();
});
