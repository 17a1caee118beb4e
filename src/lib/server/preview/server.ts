/** The preview server: exposed ports of sandboxes, each below a name of its own. Programs of others answer here, never ours. */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import type { Fleet, Use } from '../fleet.ts';
import { closed, LIMITS, listen } from '../http/listen.ts';
import { failureOf, HttpRefusal } from '../http/refusal.ts';
import type { ServeSettings } from '../settings.ts';
import { type Access, accessTo } from './access.ts';
import { type PreviewTarget, previewTarget, previewUrl } from './address.ts';
import type { ExposedPorts } from './exposed-ports.ts';
import { forward, forwardUpgrade } from './forward.ts';

export interface PreviewOptions {
  readonly settings: ServeSettings;
  readonly fleet: Fleet;
  readonly exposed: ExposedPorts;
  readonly having: CapabilityIndex;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** A line for the operator. */
  readonly notice: (line: string) => void;
}

export interface Previews {
  /** The port that it listens on. */
  readonly port: number;
  /** Where an exposed port is seen. */
  urlOf(target: PreviewTarget): string;
  /** Resolves when nothing is under way any more, after `stopping` was aborted. */
  close(): Promise<void>;
}

/** Starts to listen. @throws SbxError `conflict` when the address is taken. */
export async function openPreviews(options: PreviewOptions): Promise<Previews> {
  const { settings, fleet, exposed, having, stopping, notice } = options;

  /** @throws HttpRefusal 404 for what is not exposed, 401 for who may not see it */
  const admit = (request: IncomingMessage): { readonly target: PreviewTarget; readonly access: Access } => {
    const target = previewTarget(request.headers.host ?? '', settings);
    const found = target === undefined ? undefined : exposed.get(target.id, target.port);
    if (target === undefined || found === undefined) throw new HttpRefusal(404, 'nothing is exposed here');
    if (request.url?.startsWith('/') !== true) throw new HttpRefusal(400, 'the path is not one');
    const access = accessTo(request, found.token);
    if (access === undefined) {
      throw new HttpRefusal(401, 'this preview needs its token: ?token=TOKEN, or the header X-Preview-Token');
    }
    return { target, access };
  };
  /** Aborted when the client is gone, and when the server stops. */
  const endOf = (client: ServerResponse | Duplex) => {
    const gone = new AbortController();
    client.once('close', () => gone.abort());
    return AbortSignal.any([gone.signal, stopping]);
  };
  /** Has a sandbox that runs, and a connection to its port, for as long as `act` takes. */
  const connected = async (
    { id, port }: PreviewTarget,
    signal: AbortSignal,
    act: (connection: Duplex) => Promise<void>,
  ) => {
    using use: Use = await fleet.use(id, { signal });
    const connection = await need(use.sandbox, 'dial', having)({ port }, { signal });
    const cut = () => connection.destroy();
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      await act(connection);
    } finally {
      signal.removeEventListener('abort', cut);
      connection.destroy();
    }
  };
  const underWay = new Set<Promise<void>>();
  /** Does `act`, or says why not. */
  const serve = (act: () => Promise<void>, refuse: (status: number, text: string) => void) => {
    const done = act()
      .catch((error: unknown) => {
        const { status, body } = failureOf(unanswered(error));
        if (status === 500) notice(`bug: ${error instanceof Error ? error.stack : String(error)}`);
        refuse(status, `${body.error}\n`);
      })
      .finally(() => underWay.delete(done));
    underWay.add(done);
  };

  const server = createServer(LIMITS);
  server.on('request', (request: IncomingMessage, response: ServerResponse) =>
    serve(
      async () => {
        const { target, access } = admit(request);
        await connected(target, endOf(response), (connection) =>
          forward(request, response, access, connection),
        );
      },
      (status, text) => {
        if (response.headersSent) response.destroy();
        else response.writeHead(status, HEADERS).end(text);
      },
    ),
  );
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Not everybody who takes it is there yet.
    socket.on('error', () => socket.destroy());
    serve(
      async () => {
        const { target, access } = admit(request);
        await connected(target, endOf(socket), (connection) =>
          forwardUpgrade({ request, socket, head }, access, connection),
        );
      },
      (status, text) => {
        const lines = Object.entries({ ...HEADERS, Connection: 'close' }).map((pair) => pair.join(': '));
        socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${text}`);
      },
    );
  });
  await listen(server, settings.previewListen, '--preview-listen');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    urlOf: (target) => previewUrl(target, port, settings),
    async close() {
      await closed(server);
      await Promise.all(underWay);
    },
  };
}

const HEADERS = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };

/** What goes wrong between us and the program is told as 502. */
function unanswered(error: unknown): unknown {
  if (error instanceof HttpRefusal || error instanceof SbxError) return error;
  return new HttpRefusal(502, `the program on this port gave no answer: ${(error as Error).message}`);
}
