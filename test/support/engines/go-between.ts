/** Something between a client and an engine that changes what the engine says, or cuts the line. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** One that listens. */
export interface GoBetween extends AsyncDisposable {
  /** Its address, such as `unix:///tmp/…`. */
  readonly host: string;
  /** Breaks all connections. */
  cut(): void;
}

/** Listens at the socket `path` for the engine at `host`. @param change for what the engine says, of which a byte is a character. */
export async function startGoBetween(
  host: string,
  path: string,
  change = (said: string) => said,
): Promise<GoBetween> {
  const all = new Set<Socket>();
  const server = createServer((client) => {
    const engine = connect(host.replace('unix://', ''));
    for (const [each, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      all.add(each);
      each.on('error', () => other.destroy());
      each.once('close', () => all.delete(each));
    }
    client.pipe(engine);
    engine.setEncoding('latin1').on('data', (said: string) => client.write(change(said), 'latin1'));
    engine.once('end', () => client.end());
  });
  server.listen(path);
  await once(server, 'listening');
  const cut = () => {
    for (const each of all) each.destroy();
  };
  return {
    host: `unix://${path}`,
    cut,
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
