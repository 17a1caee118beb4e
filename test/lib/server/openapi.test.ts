import Type from 'typebox';
import { expect, test } from 'vitest';
import { type Route, route, type UpgradeRoute } from '../../../src/lib/server/http/route.ts';
import { describeRoutes } from '../../../src/lib/server/openapi.ts';
import { faultsOf, routesOf } from '../../interop/hotcell/openapi-document.ts';

const nothing = () => undefined;
const routes: Route[] = [
  route({
    method: 'POST',
    path: '/things/:id/parts/:part',
    summary: 'make a part',
    query: Type.Object({ limit: Type.Optional(Type.String({ pattern: '^[0-9]+$', refusal: 'no number' })) }),
    body: Type.Object({ name: Type.String({ refusal: 'name is required' }) }),
    answers: {
      201: { description: 'made', body: Type.Object({ id: Type.String() }) },
      204: { description: 'nothing to say' },
    },
    handle: nothing,
  }),
  route({
    method: 'GET',
    path: '/things/:id/parts/:part',
    summary: 'follow a part',
    open: true,
    answers: { 200: { description: 'events', type: 'text/event-stream' } },
    handle: nothing,
  }),
];
const upgrades: UpgradeRoute[] = [
  { path: '/things/:id/link', summary: 'a link', keyInQuery: true, handle: async () => undefined },
];

test('routes become operations with all that they are checked by', () => {
  const document = describeRoutes(routes, upgrades);
  expect(faultsOf(document)).toEqual([]);
  expect(routesOf(document)).toEqual([
    'GET /things/{}/link',
    'GET /things/{}/parts/{}',
    'POST /things/{}/parts/{}',
  ]);
  const paths = document.paths as Record<string, Record<string, object>>;
  const part = { in: 'path', required: true, schema: { type: 'string' } };
  expect(paths['/things/{id}/parts/{part}']?.post).toEqual({
    operationId: 'postThingsIdPartsPart',
    summary: 'make a part',
    parameters: [
      { name: 'id', ...part },
      { name: 'part', ...part },
      { name: 'limit', in: 'query', schema: { type: 'string', pattern: '^[0-9]+$' } },
    ],
    requestBody: {
      content: {
        'application/json': {
          schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
        },
      },
    },
    responses: {
      201: {
        description: 'made',
        content: {
          'application/json': {
            schema: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
          },
        },
      },
      204: { description: 'nothing to say' },
      default: { $ref: '#/components/responses/refused' },
    },
  });
  expect(paths['/things/{id}/parts/{part}']?.get).toMatchObject({
    security: [],
    responses: { 200: { content: { 'text/event-stream': { schema: { type: 'string' } } } } },
  });
  expect(paths['/things/{id}/link']?.get).toMatchObject({
    security: [{ bearer: [] }, { header: [] }, { query: [] }],
    responses: { 101: {} },
  });
});
