/** Reads along with an answer on its way to the sandbox, and says in the end what of a model it took. */
import { PassThrough, Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { type ToldUse, toldUse } from './usage.ts';

/** What an answer told, up to where it came. */
export interface Metered {
  readonly told: ToldUse;
  /** Events of a stream that had data in them: about one for each token. */
  readonly events: number;
}

export interface Meter {
  /** The answer goes through it. */
  readonly stream: Transform;
  metered(): Metered;
}

/** Longest event, and longest answer that is looked into; of longer ones the use is unknown. */
const LOOK_LIMIT = 4 * 1024 * 1024;

/** An answer that tells nothing, such as a file. */
export function noMeter(): Meter {
  return { stream: new PassThrough(), metered: () => ({ told: {}, events: 0 }) };
}

/** An answer that is one JSON value: it passes as it comes, and is looked at in the end. */
export function jsonMeter(): Meter {
  const parts: Buffer[] = [];
  let size = 0;
  const stream = new Transform({
    transform(part: Buffer, _encoding, done) {
      size += part.length;
      if (size <= LOOK_LIMIT) parts.push(part);
      else parts.length = 0;
      done(null, part);
    },
  });
  return {
    stream,
    metered: () => ({ told: toldUse(parsed(Buffer.concat(parts).toString('utf8'))), events: 0 }),
  };
}

export interface EventMeterOptions {
  /** Leaves out the event that tells the usage and nothing else, which the client has not asked for. */
  readonly dropsUsage: boolean;
}

/** Server-sent events, which pass one by one. */
export function eventMeter({ dropsUsage }: EventMeterOptions): Meter {
  const decoder = new StringDecoder('utf8');
  let told: ToldUse = {};
  let events = 0;
  let rest = '';
  /** @returns whether it is for the client. */
  const look = (event: string): boolean => {
    const data = event
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length).trimStart())
      .join('\n');
    if (data === '' || data === '[DONE]') return true;
    events += 1;
    const value = parsed(data);
    told = { ...told, ...toldUse(value) };
    return !(dropsUsage && isUsageAlone(value));
  };
  const pass = (stream: Transform) => {
    for (let end = END.exec(rest); end !== null; end = END.exec(rest)) {
      const length = end.index + end[0].length;
      const event = rest.slice(0, length);
      rest = rest.slice(length);
      if (look(event)) stream.push(event);
    }
    if (rest.length <= LOOK_LIMIT) return;
    stream.push(rest);
    rest = '';
  };
  const stream = new Transform({
    transform(part: Buffer, _encoding, done) {
      rest += decoder.write(part);
      pass(stream);
      done();
    },
    flush(done) {
      rest += decoder.end();
      pass(stream);
      if (rest !== '' && look(rest)) stream.push(rest);
      done();
    },
  });
  return { stream, metered: () => ({ told, events }) };
}

/** The empty line behind an event. */
const END = /\r?\n\r?\n/;

/** What an OpenAI stream ends with when it is asked for its usage. */
function isUsageAlone(value: unknown): boolean {
  const { choices, usage } = (value ?? {}) as { readonly choices?: unknown; readonly usage?: unknown };
  return Array.isArray(choices) && choices.length === 0 && usage !== null && usage !== undefined;
}

/** Undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
