/** The description of the server's own routes, made from what they are checked by: OpenAPI 3.1. */
import type { TSchema } from 'typebox';
import type { Answer, Route, UpgradeRoute } from './http/route.ts';
import { errorBody } from './shapes.ts';

type Fields = Readonly<Record<string, unknown>>;

export function describeRoutes(routes: readonly Route[], upgrades: readonly UpgradeRoute[]): Fields {
  const operations = [
    ...routes.map((route) => ({
      method: route.method.toLowerCase(),
      path: route.path,
      operation: plain(route),
    })),
    ...upgrades.map((route) => ({ method: 'get', path: route.path, operation: upgrade(route) })),
  ];
  const paths: Record<string, Record<string, Fields>> = {};
  for (const { method, path, operation } of operations) {
    const template = path.replace(/:(\w+)/g, '{$1}');
    paths[template] = { ...paths[template], [method]: operation };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'sbx serve', version: SBX_VERSION },
    paths,
    components: {
      responses: { refused: { description: 'why not', ...json(errorBody) } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        query: { type: 'apiKey', in: 'query', name: 'key' },
      },
    },
    security: [{ bearer: [] }, { header: [] }],
  };
}

function plain({ method, path, summary, open, query, body, answers }: Route): Fields {
  return {
    operationId: idOf(method, path),
    summary,
    ...(open === true ? { security: [] } : {}),
    parameters: [...pathParameters(path), ...Object.entries(query?.properties ?? {}).map(queryParameter)],
    ...(body === undefined ? {} : { requestBody: json(body) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer)])),
      default: { $ref: '#/components/responses/refused' },
    },
  };
}

function upgrade({ path, summary, keyInQuery }: UpgradeRoute): Fields {
  return {
    operationId: idOf('UPGRADE', path),
    summary,
    ...(keyInQuery === true ? { security: [{ bearer: [] }, { header: [] }, { query: [] }] } : {}),
    parameters: pathParameters(path),
    responses: {
      101: { description: 'the connection is handed over' },
      default: { $ref: '#/components/responses/refused' },
    },
  };
}

/** Such as `postSandboxesIdRunCode`. */
function idOf(method: string, path: string): string {
  const words = path.match(/[A-Za-z0-9]+/g) ?? ['root'];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function pathParameters(path: string): Fields[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameter([name, schema]: [string, TSchema]): Fields {
  return { name, in: 'query', schema: described(schema) };
}

function response({ description, body, type }: Answer): Fields {
  if (body !== undefined) return { description, ...json(body) };
  return type === undefined
    ? { description }
    : { description, content: { [type]: { schema: { type: 'string' } } } };
}

function json(schema: TSchema): Fields {
  return { content: { 'application/json': { schema: described(schema) } } };
}

/** A schema without what only our own checks understand. */
function described(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'refusal' && typeof value === 'string' ? undefined : value,
    ),
  );
}
