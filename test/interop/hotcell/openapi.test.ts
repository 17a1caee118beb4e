/** The check of descriptions, which has to notice each of these faults. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { checkOpenApi } from './openapi.ts';
import { faultsOf, routesOf } from './openapi-document.ts';
import { routes } from './routes.ts';

interface Operation {
  operationId?: string;
  parameters: object[];
  responses: Record<string, object>;
  requestBody?: object;
  security?: object[];
}

/** A description of the table of routes, as small as it can be. */
function describeRoutes() {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const { method, path } of routes) {
    const parameters = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }));
    const template = path.replace(/:(\w+)/g, '{$1}');
    const responses = { 200: { description: 'done' }, default: { $ref: '#/components/responses/refused' } };
    paths[template] = { ...paths[template], [method.toLowerCase()]: { parameters, responses } };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'hotcell', version: '1' },
    paths,
    components: {
      responses: { refused: { description: 'refused' } },
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ key: [] }],
  };
}

type Document = ReturnType<typeof describeRoutes>;

const EXEC = '/sandboxes/{id}/exec';

function exec(document: Document): Operation {
  const operation = document.paths[EXEC]?.post;
  if (operation === undefined) throw new Error('there is no exec');
  return operation;
}

test('a description of the table is right', () => {
  expect(faultsOf(describeRoutes())).toEqual([]);
  expect(routesOf(describeRoutes())).toHaveLength(routes.length);
  expect(routesOf(describeRoutes())).toContain('DELETE /sandboxes/{}/sessions/{}');
});

const faults: readonly (readonly [fault: string, make: (document: Document) => void])[] = [
  ['openapi is not 3.1.x', (document) => Object.assign(document, { openapi: '3.0.3' })],
  ['info.title is missing', (document) => Object.assign(document.info, { title: undefined })],
  ['info.version is missing', (document) => Object.assign(document.info, { version: 1 })],
  ['paths is missing', (document) => Object.assign(document, { paths: [] })],
  ['x does not begin with /', (document) => Object.assign(document.paths, { x: {} })],
  [
    'two operations have one operationId',
    (document) => {
      exec(document).operationId = 'same';
      Object.assign(document.paths['/info']?.get ?? {}, { operationId: 'same' });
    },
  ],
  [
    `post ${EXEC}: parameters  instead of id`,
    (document) => Object.assign(exec(document), { parameters: [] }),
  ],
  [
    `post ${EXEC}: a path parameter is not required`,
    (document) => Object.assign(exec(document).parameters[0] ?? {}, { required: false }),
  ],
  [
    `post ${EXEC}: a parameter has no schema`,
    (document) => Object.assign(exec(document).parameters[0] ?? {}, { schema: undefined }),
  ],
  [`post ${EXEC}: no responses`, (document) => Object.assign(exec(document), { responses: {} })],
  [
    `post ${EXEC}: 999 is no status`,
    (document) => Object.assign(exec(document).responses, { 999: { description: '' } }),
  ],
  [`post ${EXEC}: 404 is not described`, (document) => Object.assign(exec(document).responses, { 404: {} })],
  [`post ${EXEC}: the body has no content`, (document) => Object.assign(exec(document), { requestBody: {} })],
  [
    `post ${EXEC}: no security scheme other`,
    (document) => Object.assign(exec(document), { security: [{ other: [] }] }),
  ],
  [
    '#/components/schemas/lost leads nowhere',
    (document) =>
      Object.assign(exec(document).responses, {
        201: { description: 'x', content: { a: { schema: { $ref: '#/components/schemas/lost' } } } },
      }),
  ],
];
test.each(faults)('%s', (fault, make) => {
  const document = describeRoutes();
  make(document);
  expect(faultsOf(document)).toContain(fault);
});

test.each([null, 5, 'text', [], {}])('%j is no description', (document) => {
  expect(faultsOf(document)).not.toEqual([]);
  expect(routesOf(document)).toEqual([]);
});

test('a served description is held to the table, and to what is there beyond it', async () => {
  const document = describeRoutes();
  const responses = { 200: { description: 'this' } };
  document.paths['/openapi.json'] = { get: { parameters: [], responses } };
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const served = { url: `http://127.0.0.1:${address.port}`, key: '', close: async () => undefined };
  try {
    await checkOpenApi(served, ['GET /openapi.json']);
    await expect(checkOpenApi(served, [])).rejects.toThrow();
    await expect(checkOpenApi(served, ['GET /openapi.json', 'GET /more'])).rejects.toThrow();
    delete document.paths[EXEC];
    await expect(checkOpenApi(served, ['GET /openapi.json'])).rejects.toThrow();
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
