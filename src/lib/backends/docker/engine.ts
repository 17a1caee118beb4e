/**
 * The API of Docker Engine over HTTP: versions, JSON, streams, raw connections. Which calls there are is the matter of
 * the files that make them. Facts: docs.docker.com, "Docker Engine API", version 1.41.
 */
import type { Duplex, Readable } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type HttpAnswer, type HttpClient, type HttpRequest, httpClient } from '../../transport/http.ts';
import { type AddressOptions, addressText, type EngineAddress, findAddress, hostAndPort } from './address.ts';
import { connector } from './connect.ts';
import { broken, refused } from './errors.ts';
import { firstAnswer } from './first-answer.ts';

export interface EngineRequest {
  readonly method: HttpRequest['method'];
  /** Below the version, such as `/containers/json`; parts of it are encoded by {@link segment}. */
  readonly path: string;
  readonly query?: Readonly<Record<string, QueryValue | undefined>> | undefined;
  /** Sent as JSON, a stream as a tar. */
  readonly body?: object | undefined;
  readonly stream?: Readable | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** What is tried, for the message of a failure: `cannot WHAT: …`. */
  readonly what: string;
  /**
   * May be the first call, in whatever version the engine takes for none: every answer tells the newest, so that asking for it
   * is spared. For calls of which only what all versions have is read.
   */
  readonly first?: boolean | undefined;
}

/** A list is given value by value, each under the same name. */
type QueryValue = string | number | boolean | readonly string[];

/** An engine, spoken to in the newest version that both know. */
export interface Engine {
  /** The configured name of the backend. */
  readonly backend: string;
  readonly address: () => Promise<EngineAddress>;
  /** Resolves with the head of an answer whose status is below 400. The body must be read or destroyed. */
  send(request: EngineRequest, call: Call): Promise<HttpAnswer>;
  /** The answer as JSON; undefined for an empty one. */
  json(request: EngineRequest, call: Call): Promise<unknown>;
  /** The raw connection of an attached stream. */
  upgrade(request: EngineRequest, call: Call): Promise<Duplex>;
  /** Version of the API that is spoken, and what the engine says of itself. */
  version(call: Call): Promise<EngineVersion>;
  /** The error for a body or connection that broke off. */
  broken(error: unknown, call: Call): Promise<Error>;
}

export interface EngineVersion {
  /** Such as `1.41`. */
  readonly api: string;
  /** The newest that the engine knows. */
  readonly newest: string;
  readonly os: string | undefined;
  /** Podman's service says so. */
  readonly isPodman: boolean;
}

/** The newest version that this code was written for. */
const OURS = '1.47';
/** Docker 19.03. */
const LOWEST = '1.40';
const PING: HttpRequest = { method: 'GET', path: '/_ping' };
/** Most bytes of a JSON answer. */
const JSON_LIMIT = 64 * 1024 * 1024;

/** A part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text);
}

/** Opens nothing before the first call. */
export function openEngine(options: AddressOptions): Engine {
  const { backend, env } = options;
  let found: Promise<EngineAddress> | undefined;
  let opened: Promise<HttpClient> | undefined;
  let negotiated: Promise<EngineVersion> | undefined;
  let isHeard = false;
  const address = () => {
    found ??= findAddress(options);
    return found;
  };
  const client = () => {
    opened ??= address().then(async (where) =>
      httpClient(await connector(where, env, backend), hostOf(where)),
    );
    return opened;
  };
  const failure = async (error: unknown, call: Call) => broken(error, await address(), backend, call.signal);
  const attempt = async <T>(
    act: (http: HttpClient, signal: AbortSignal) => Promise<T>,
    call: Call,
  ): Promise<T> => {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    const http = await client();
    try {
      const result = isHeard
        ? await act(http, call.signal)
        : await firstAnswer(
            (signal) => act(http, signal),
            (signal) => knock(http, signal),
            call.signal,
          );
      isHeard = true;
      return result;
    } catch (error) {
      throw await failure(error, call);
    }
  };
  const read = (body: Readable, call: Call) =>
    text(body, JSON_LIMIT).catch(async (error: unknown) => {
      throw await failure(error, call);
    });
  const judged = async (answer: HttpAnswer, what: string, call: Call): Promise<HttpAnswer> => {
    if (answer.status < 400) return answer;
    throw refused(answer.status, await read(answer.body, call), what, backend);
  };
  const agreed = async (answer: HttpAnswer): Promise<EngineVersion> => {
    try {
      return agree(answer, await address(), backend);
    } catch (error) {
      answer.body.destroy();
      throw error;
    }
  };
  const ping = async (call: Call): Promise<EngineVersion> => {
    const answer = await attempt((http, signal) => http.request(PING, signal), call);
    const both = await agreed(answer);
    const { body } = await judged(answer, 'speak to the Docker engine', call);
    await read(body, call);
    return both;
  };
  const version = (call: Call) => {
    negotiated ??= ping(call).catch((error: unknown) => {
      negotiated = undefined;
      throw error;
    });
    return negotiated;
  };
  const httpRequest = async (request: EngineRequest, call: Call): Promise<HttpRequest> => {
    const versioned =
      request.first === true && negotiated === undefined ? '' : `/v${(await version(call)).api}`;
    const path = `${versioned}${request.path}${queryOf(request.query)}`;
    const { method, body, stream, headers } = request;
    if (stream !== undefined)
      return { method, path, body: stream, headers: { 'content-type': 'application/x-tar', ...headers } };
    if (body === undefined) return { method, path, headers };
    const type = { 'content-type': 'application/json' };
    return { method, path, body: JSON.stringify(body), headers: { ...type, ...headers } };
  };
  const engine: Engine = {
    backend,
    address,
    version,
    broken: failure,
    async send(request, call) {
      const sent = await httpRequest(request, call);
      const explain = (error: unknown) => failure(error, call);
      const answer = await attempt((http, signal) => http.request({ ...sent, explain }, signal), call);
      if (negotiated === undefined) {
        const both = await agreed(answer);
        negotiated = Promise.resolve(both);
      }
      return judged(answer, request.what, call);
    },
    async json(request, call) {
      const { body } = await engine.send(request, call);
      const answer = await read(body, call);
      return answer === '' ? undefined : (JSON.parse(answer) as unknown);
    },
    async upgrade(request, call) {
      const sent = await httpRequest(request, call);
      const result = await attempt((http, signal) => http.upgrade(sent, signal), call);
      if (result.upgraded) return result.connection;
      const { status } = await judged(result.answer, request.what, call);
      result.answer.body.destroy();
      throw new SbxError(
        'failed',
        `cannot ${request.what}: the engine kept the connection (status ${status})`,
        {
          backend,
        },
      );
    },
  };
  return engine;
}

/** Asks whether anybody is there. */
async function knock(http: HttpClient, signal: AbortSignal): Promise<void> {
  const { body } = await http.request(PING, signal);
  body.destroy();
}

/** The version that both ends know. `Api-Version` is the newest of the engine's. */
function agree({ status, headers }: HttpAnswer, address: EngineAddress, backend: string): EngineVersion {
  const where = addressText(address);
  const newest = headers['api-version'];
  if (typeof newest !== 'string' || !/^\d+\.\d+$/.test(newest)) {
    const set = `sbx config set backends.${backend}`;
    const another = `name another address: ${set}.host ADDRESS`;
    const isOpen = address.kind === 'tcp' && address.tls === undefined;
    throw new SbxError('unreachable', `what answers at ${where} (status ${status}) is no Docker engine`, {
      backend,
      retryable: status >= 500,
      hint: isOpen ? `does it want TLS? ${set}.cert-path FOLDER; else ${another}` : another,
    });
  }
  if (isOlder(newest, LOWEST)) {
    throw new SbxError(
      'unreachable',
      `the Docker engine at ${where} speaks API ${newest}; sbx needs ${LOWEST} or newer`,
      { backend, retryable: false, hint: 'update it to Docker 19.03, Podman 4, or newer' },
    );
  }
  const os = headers.ostype;
  return {
    api: isOlder(newest, OURS) ? newest : OURS,
    newest,
    os: typeof os === 'string' ? os : undefined,
    isPodman: headers['libpod-api-version'] !== undefined,
  };
}

/** Whether version `a` comes before `b`. */
export function isOlder(a: string, b: string): boolean {
  const [major = 0, minor = 0] = a.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = b.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

function hostOf(address: EngineAddress): string {
  return address.kind === 'tcp' ? hostAndPort(address) : 'docker';
}

function queryOf(query: EngineRequest['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value ?? []].flat().map((each) => `${key}=${encodeURIComponent(String(each))}`),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** What `body` says, as far as `limit` bytes go. */
async function text(body: Readable, limit: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > limit)
      throw new SbxError('failed', `the Docker engine answered with more than ${limit} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
