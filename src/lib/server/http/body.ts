/** Bodies of requests: capped before they are kept, JSON, and of the shape that a route asks for. */
import type { IncomingMessage } from 'node:http';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { HttpRefusal } from './refusal.ts';

/** Milliseconds in which a client that sends a body must send something. */
const IDLE_MS = 30_000;
/** Bytes a millisecond that must have come once that time is over: one that dribbles is as good as one that stops. */
const SLOWEST = 1;

/** The whole body. @throws HttpRefusal 413 above `limit` bytes, 408 when the client sends too slowly, 400 when it goes. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new HttpRefusal(413, 'request body too large');
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const parts: Buffer[] = [];
  const started = Date.now();
  let size = 0;
  // What still comes is read and forgotten, so that the client hears the answer: the answer does not say `Connection: close`
  // either, which node takes for the leave to reset a connection that more comes on.
  const refuse = (refusal: HttpRefusal) => {
    request.off('data', take);
    reject(refusal);
  };
  const tooSlow = () => refuse(new HttpRefusal(408, 'the body does not come'));
  const timer = setTimeout(tooSlow, IDLE_MS);
  const take = (part: Buffer) => {
    timer.refresh();
    size += part.length;
    if (size > limit) return refuse(tooLarge());
    if (Date.now() - started > IDLE_MS + size / SLOWEST) return tooSlow();
    parts.push(part);
  };
  request.on('data', take);
  request.once('end', () => resolve(Buffer.concat(parts)));
  for (const event of ['error', 'close'])
    request.once(event, () => reject(new HttpRefusal(400, 'the body was cut off')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** A body as JSON; an empty one is `{}`. @throws HttpRefusal 400 */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return {};
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new HttpRefusal(400, 'the body is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new HttpRefusal(400, 'the body must be a JSON object');
  return value;
}

/**
 * A function that lets values of `schema` through. What the schema does not name is ignored, as the original API does. A
 * field may have words of its own for whatever is wrong with it: `Type.String({ refusal: 'command is required' })`.
 */
export function checker(schema: TSchema): (value: unknown, where: string) => void {
  const compiled = Compile(schema);
  const required = 'required' in schema ? (schema.required as readonly string[]) : [];
  return (value, where) => {
    if (compiled.Check(value)) return;
    const [first] = compiled.Errors(value);
    if (first === undefined) throw new HttpRefusal(400, `${where} is not allowed`);
    const parts = first.instancePath.split('/').slice(1);
    const missing = first.keyword === 'required' ? first.params.requiredProperties.slice(0, 1) : [];
    const field = [...parts, ...missing].join('.');
    const refusal = refusalOf(schema, [...parts, ...missing]);
    if (refusal !== undefined) throw new HttpRefusal(400, refusal);
    if (required.includes(field)) throw new HttpRefusal(400, `${field} is required`);
    throw new HttpRefusal(400, `${field === '' ? where : field} ${first.message}`);
  };
}

/** The words that the field at `path`, or one around it, has for its refusal. */
function refusalOf(schema: unknown, [next, ...rest]: readonly string[]): string | undefined {
  const { refusal, properties } = schema as {
    refusal?: string;
    properties?: Readonly<Record<string, unknown>>;
  };
  const inner = next === undefined ? undefined : properties?.[next];
  return (inner === undefined ? undefined : refusalOf(inner, rest)) ?? refusal;
}
