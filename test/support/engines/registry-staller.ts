/** A registry that stops in the middle of a layer, in front of a real one. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One that listens. */
export interface Staller extends AsyncDisposable {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  /** Resolves when half of something has been sent. */
  readonly stalled: Promise<void>;
  /** Sends the rest; resolves when it has gone. */
  goOn(): Promise<void>;
}

/** What has so many bytes is a layer. */
const LAYER = 100_000;

/** Starts one that has the images of the registry at `host`. */
export async function startStaller(host: string): Promise<Staller> {
  const stalled = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  const server = createServer((asked, answer) => {
    const url = `http://${host}${asked.url}`;
    const onward = request(url, { method: asked.method, headers: asked.headers }, async (real) => {
      const body = Buffer.concat(await real.toArray());
      answer.writeHead(real.statusCode ?? 502, real.headers);
      if (asked.method !== 'GET' || body.length < LAYER) {
        answer.end(body);
        return;
      }
      answer.once('close', () => over.resolve());
      answer.write(body.subarray(0, body.length / 2), () => stalled.resolve());
      await rest.promise;
      answer.end(body.subarray(body.length / 2));
    });
    asked.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    stalled: stalled.promise,
    goOn() {
      rest.resolve();
      return over.promise;
    },
    async [Symbol.asyncDispose]() {
      rest.resolve();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
