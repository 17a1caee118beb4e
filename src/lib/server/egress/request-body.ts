/** Bodies on their way to a provider: looked into where they are JSON, else passed on as they come. */
import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import { readBody } from '../http/body.ts';

/** A JSON body that was read. */
export interface AskedBody {
  /** What is sent on. */
  readonly bytes: Buffer;
  readonly value: Fields;
  /** Whether the stream was made to tell its usage, which the client has not asked for. */
  readonly addsUsage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

export interface ReadOptions {
  /** Most bytes. */
  readonly limit: number;
  /** Whether the text is written anew from what was read. */
  readonly rewrites: boolean;
}

/** Undefined where the body is no JSON object, and has not been read. @throws HttpRefusal 408, 413 */
export async function readAsked(
  request: IncomingMessage,
  path: string,
  { limit, rewrites }: ReadOptions,
): Promise<AskedBody | undefined> {
  const { 'content-type': type = '', 'content-encoding': encoding } = request.headers;
  if (!/^application\/json\b/i.test(type) || encoding !== undefined) return undefined;
  const bytes = await readBody(request, limit);
  const value = objectIn(bytes);
  const asking = askingForUsage(value, path);
  const isSame = asking === value && !rewrites;
  return {
    bytes: isSame || bytes.length === 0 ? bytes : Buffer.from(JSON.stringify(asking)),
    value: asking,
    addsUsage: asking !== value,
  };
}

/** Empty where it is none: the provider will say so. */
function objectIn(bytes: Buffer): Fields {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return {};
  }
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}

/** A chat that is streamed in OpenAI's style tells what it took only when it is asked to. */
function askingForUsage(value: Fields, path: string): Fields {
  const options = (value.stream_options ?? {}) as Fields;
  const isStream = value.stream === true && /\/(chat\/)?completions$/.test(path);
  if (!isStream || options.include_usage === true) return value;
  return { ...value, stream_options: { ...options, include_usage: true } };
}

/** A stream, and how much of it has gone by. */
export interface CountedStream {
  readonly stream: Readable;
  size(): number;
}

export function counted(body: Buffer | Readable): CountedStream {
  let size = 0;
  const through = new Transform({
    transform(part: Buffer, _encoding, done) {
      size += part.length;
      done(null, part);
    },
  });
  if (body instanceof Readable) {
    body.once('error', (error) => through.destroy(error));
    body.pipe(through);
  } else {
    through.end(body);
  }
  return { stream: through, size: () => size };
}
