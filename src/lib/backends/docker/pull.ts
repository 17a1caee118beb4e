/** Images from a registry. The engine fetches them; who we are to the registry is told by us. */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Call } from '../../backend/contract.ts';
import { type ErrorCode, SbxError } from '../../errors.ts';
import type { Docker } from './box.ts';
import { codeOf } from './errors.ts';
import { type Login, loginFor, registryOf } from './registry-auth.ts';

const LINE_LIMIT = 1024 * 1024;
/**
 * Refusals of a registry, which engines pass on with status 500: the codes `unauthorized` and `denied` of the distribution
 * specification, each before a colon, and the engine's own words where it has no login to try.
 */
const LOGIN_WANTED = /\b(unauthorized|denied): |no basic auth credentials/;
/** Milliseconds between two words about a pull. */
const DETAIL_MS = 500;

/**
 * Pulls the image `name`. `not_found` when its registry has no such image, `auth` when it wants a login, or another one; else
 * `failed`.
 */
export async function pull(docker: Docker, name: string, call: Call): Promise<void> {
  call.onStep?.(`pulling ${name}`);
  const login = await loginFor(docker, name, call);
  const hasTag = /(:[\w.-]+|@sha256:[0-9a-f]+)$/.test(name.slice(name.lastIndexOf('/') + 1));
  const headers = login === undefined ? {} : { 'x-registry-auth': encoded(login) };
  const what = `pull image '${name}', which the engine does not have`;
  try {
    // Docker Engine API, "ImageCreate": answers at once and then tells how it goes, one JSON object a line.
    const { body } = await docker.engine.send(
      {
        ...{ method: 'POST', path: '/images/create', query: { fromImage: hasTag ? name : `${name}:latest` } },
        ...{ headers, what },
      },
      call,
    );
    await follow(docker, body, what, call);
  } catch (error) {
    if (!(error instanceof SbxError) || error.code === 'interrupted' || error.code === 'unreachable')
      throw error;
    throw notPulled(docker, name, error, login !== undefined);
  }
}

interface PullEvent {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
  readonly errorDetail?: { readonly code?: number };
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

async function follow({ engine }: Docker, body: Readable, what: string, call: Call): Promise<void> {
  const layers = new Map<string, { readonly current: number; readonly total: number }>();
  let told = Number.NEGATIVE_INFINITY;
  try {
    for await (const { id, status, error, errorDetail, progressDetail = {} } of eventsOf(body)) {
      if (error !== undefined)
        throw new SbxError(codeOf(errorDetail?.code), `cannot ${what}: ${error.slice(0, 600)}`);
      const { current, total } = progressDetail;
      if (id === undefined || status !== 'Downloading' || current === undefined || total === undefined)
        continue;
      layers.set(id, { current, total });
      if (performance.now() - told < DETAIL_MS) continue;
      told = performance.now();
      call.onDetail?.(detailOf([...layers.values()]));
    }
  } catch (error) {
    throw await engine.broken(error, call);
  }
}

function detailOf(layers: readonly { readonly current: number; readonly total: number }[]): string {
  const sum = (key: 'current' | 'total') => layers.reduce((total, layer) => total + layer[key], 0);
  const percent = Math.floor((100 * sum('current')) / Math.max(1, sum('total')));
  return `${percent} % of ${Math.ceil(sum('total') / 1e6)} MB`;
}

async function* eventsOf(body: Readable): AsyncIterable<PullEvent> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const part of body as AsyncIterable<Buffer>) {
    const lines = `${rest}${decoder.write(part)}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LIMIT)
      throw new SbxError('failed', 'the Docker engine tells of a pull in too long lines');
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as PullEvent;
  }
}

/** The header X-Registry-Auth. Engines take one that is not padded for none. */
function encoded(login: Login): string {
  return Buffer.from(JSON.stringify(login)).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}

function notPulled({ name: backend }: Docker, image: string, cause: SbxError, hasLogin: boolean): SbxError {
  const { host } = registryOf(image);
  const code = cause.code === 'failed' && LOGIN_WANTED.test(cause.message) ? 'auth' : cause.code;
  const present = 'see what the engine has: docker image ls';
  const hints: Partial<Record<ErrorCode, string>> = {
    auth: `log in${hasLogin ? ' again' : ''}: docker login ${host}`.trimEnd(),
    not_found: `check its name and tag, or log in if it is not for everybody; ${present}`,
  };
  const hint = hints[code] ?? cause.hint ?? `can the engine reach ${host || 'Docker Hub'}? else ${present}`;
  return new SbxError(code, cause.message, { backend, hint, cause });
}
