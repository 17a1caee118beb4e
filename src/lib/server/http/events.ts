/**
 * Server-sent events as the hotcell API writes them: `data: JSON`, one an event. What a client does not read holds up
 * whoever writes, so memory stays bounded.
 */
import type { ServerResponse } from 'node:http';

export interface EventStream {
  /** Sends one event. Resolves when there is room for more; at once when the client is gone. */
  send(event: object): Promise<void>;
  /** A comment, which clients skip. */
  comment(text: string): Promise<void>;
  end(): void;
}

/** Answers 200 and begins a stream of events. */
export function eventStream(response: ServerResponse): EventStream {
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-cache',
    Connection: 'keep-alive',
  });
  response.flushHeaders();
  const write = async (text: string) => {
    if (response.destroyed || response.writableEnded || response.write(text)) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off('drain', go);
        response.off('close', go);
        resolve();
      };
      response.once('drain', go);
      response.once('close', go);
    });
  };
  return {
    send: (event) => write(`data: ${JSON.stringify(event)}\n\n`),
    comment: (text) => write(`: ${text}\n\n`),
    end: () => response.end(),
  };
}
