/**
 * The structure of an OpenAPI 3.1 document, as far as tools depend on it: versions, paths and their parameters, operations,
 * responses, references and security schemes. Schemas are taken as they are.
 */

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

type Fields = Readonly<Record<string, unknown>>;

/** Its operations as `GET /sandboxes/{}`, sorted. */
export function routesOf(document: unknown): string[] {
  return operationsOf(document)
    .map(({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}')}`)
    .sort();
}

/** What is wrong with it, each with its place; nothing when it is valid. */
export function faultsOf(document: unknown): string[] {
  const { openapi, info, paths } = fields(document);
  const { title, version } = fields(info);
  const operations = operationsOf(document);
  const ids = operations.map(({ operation }) => operation.operationId).filter((id) => id !== undefined);
  return [
    ...unless(/^3\.1\.\d+$/.test(text(openapi)), 'openapi is not 3.1.x'),
    ...unless(text(title) !== '', 'info.title is missing'),
    ...unless(text(version) !== '', 'info.version is missing'),
    ...unless(isFields(paths), 'paths is missing'),
    ...unless(new Set(ids).size === ids.length, 'two operations have one operationId'),
    ...Object.keys(fields(paths)).flatMap((path) =>
      unless(path.startsWith('/'), `${path} does not begin with /`),
    ),
    ...operations.flatMap((each) => faultsOfOperation(document, each)),
    ...faultsOfReferences(document, document),
  ];
}

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operation: Fields;
  /** Its own parameters and those of its path. */
  readonly parameters: readonly unknown[];
}

function operationsOf(document: unknown): Operation[] {
  return Object.entries(fields(fields(document).paths)).flatMap(([path, item]) =>
    Object.entries(fields(item))
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({
        path,
        method,
        operation: fields(operation),
        parameters: [...list(fields(item).parameters), ...list(fields(operation).parameters)],
      })),
  );
}

function faultsOfOperation(document: unknown, { path, method, operation, parameters }: Operation): string[] {
  const at = (fault: string) => `${method} ${path}: ${fault}`;
  const { responses, requestBody, security } = operation;
  const inPath = parameters
    .map((each) => resolve(document, each))
    .filter((each) => fields(each).in === 'path');
  const wanted = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  const declared = inPath.map((each) => fields(each).name);
  const schemes = fields(fields(fields(document).components).securitySchemes);
  const named = list(security ?? fields(document).security).flatMap((each) => Object.keys(fields(each)));
  return [
    ...unless(same(wanted, declared), at(`parameters ${declared.join()} instead of ${wanted.join()}`)),
    ...inPath.flatMap((each) =>
      unless(fields(each).required === true, at('a path parameter is not required')),
    ),
    ...parameters
      .map((each) => resolve(document, each))
      .flatMap((each) =>
        unless(
          isFields(fields(each).schema) || isFields(fields(each).content),
          at('a parameter has no schema'),
        ),
      ),
    ...unless(Object.keys(fields(responses)).length > 0, at('no responses')),
    ...Object.entries(fields(responses)).flatMap(([status, response]) => [
      ...unless(/^([1-5](\d\d|XX)|default)$/.test(status), at(`${status} is no status`)),
      ...unless(
        typeof fields(resolve(document, response)).description === 'string',
        at(`${status} is not described`),
      ),
    ]),
    ...unless(
      requestBody === undefined || isFields(fields(resolve(document, requestBody)).content),
      at('the body has no content'),
    ),
    ...named.filter((name) => !(name in schemes)).map((name) => at(`no security scheme ${name}`)),
  ];
}

/** References within `value` that lead nowhere. */
function faultsOfReferences(document: unknown, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => faultsOfReferences(document, each));
  if (!isFields(value)) return [];
  const { $ref } = value;
  const lost =
    typeof $ref === 'string' && target(document, $ref) === undefined ? [`${$ref} leads nowhere`] : [];
  return [...lost, ...Object.values(value).flatMap((each) => faultsOfReferences(document, each))];
}

function resolve(document: unknown, value: unknown): unknown {
  const { $ref } = fields(value);
  return typeof $ref === 'string' ? target(document, $ref) : value;
}

/** What `#/components/…` stands for. */
function target(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((value: unknown, part) => fields(value)[part], document);
}

function same(one: readonly unknown[], other: readonly unknown[]): boolean {
  return JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted());
}

function unless(holds: boolean, fault: string): string[] {
  return holds ? [] : [fault];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
