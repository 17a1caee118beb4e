/** The events of an answer, one after the other. docs/protocol.md, "Events". */
import type { Readable } from 'node:stream';

/** What a server says while a command runs. */
export interface ExecEvent {
  readonly type?: string;
  readonly data?: unknown;
  readonly exitCode?: unknown;
}

/** Longest event. */
const LINE_LIMIT = 16 * 1024 * 1024;

/** Ends with the answer, also where that breaks off. @throws Error for what are no events. */
export async function* eventsOf(body: Readable): AsyncIterable<ExecEvent> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = rest.toString('utf8', 0, at);
      rest = rest.subarray(at + 1);
      if (line.startsWith('data:')) yield (JSON.parse(line.slice(5)) ?? {}) as ExecEvent;
    }
    if (rest.length > LINE_LIMIT) throw new Error(`an event of more than ${LINE_LIMIT} bytes`);
  }
}
