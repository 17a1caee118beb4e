/**
 * `/PROVIDER/…`: the request goes to the provider with its real key in the place of the token, and the answer comes back as it
 * comes. What it took is counted on the way.
 */
import { type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import type { Gate } from './gate.ts';
import { eventMeter, jsonMeter, type Meter, noMeter } from './meter.ts';
import type { Provider } from './providers.ts';
import { GatewayRefusal } from './refusal.ts';
import { endToEnd, headersFor, modelsOf, providerPath, targetUrl, tokenOf } from './request.ts';
import { type CountedStream, counted, readAsked } from './request-body.ts';
import { withoutSecret } from './secret.ts';

export interface SwapOptions {
  readonly gate: Gate;
  readonly providers: readonly Provider[];
  /** Most bytes of a JSON body. */
  readonly bodyLimit: number;
}

/** Answers a request to a provider. @throws GatewayRefusal; HttpRefusal for a body that does not come or is too large */
export type Swap = (request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => Promise<void>;

export function openSwap({ gate, providers, bodyLimit }: SwapOptions): Swap {
  return async (request, response, signal) => {
    const { method = 'GET' } = request;
    const path = providerPath(request.url ?? '');
    const { token, header } = tokenOf(request, path.query);
    const { policy } = gate.check(token);
    const provider = providers.find(({ name }) => name === path.provider);
    if (provider === undefined) throw unknownProvider(providers);
    const asked = await readAsked(request, path.rest, {
      limit: bodyLimit,
      // What was looked at must be what is sent: a second "model" in the text was not seen.
      rewrites: policy.models !== undefined,
    });
    const models = modelsOf(asked?.value, path.rest);
    const generates = method !== 'GET' && method !== 'HEAD';
    const owner = gate.admit(token, { provider: provider.name, models, generates });
    const length = asked === undefined ? request.headers['content-length'] : String(asked.bytes.length);
    const body = counted(asked?.bytes ?? request);
    let meter: Meter | undefined;
    try {
      const answer = await send(provider, {
        url: targetUrl(provider.baseUrl, path),
        method,
        headers: {
          ...headersFor(request.headers, header, provider.key),
          ...(length === undefined ? {} : { 'content-length': length }),
        },
        body,
        signal,
      });
      meter = meterOf(answer, asked?.addsUsage === true);
      await passOn(answer, meter, response, { key: provider.key, token: owner.token });
    } finally {
      gate.settle({
        owner,
        provider,
        model: models[0],
        requestBytes: body.size(),
        metered: meter?.metered(),
      });
    }
  };
}

function unknownProvider(providers: readonly Provider[]): GatewayRefusal {
  const names = providers.map(({ name }) => `/${name}`).join(', ') || 'none';
  return new GatewayRefusal(404, 'unknown_provider', `the path names no provider; there are: ${names}`);
}

interface Sending {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string | string[]>;
  readonly body: CountedStream;
  readonly signal: AbortSignal;
}

/** The head of the provider's answer. @throws GatewayRefusal 502 */
async function send(
  { name, key }: Provider,
  { url, method, headers, body, signal }: Sending,
): Promise<IncomingMessage> {
  const start = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const sending = start(url, { method, headers, signal });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sending.once('response', resolve);
  sending.on('error', reject);
  // A provider may answer before it has read all; then its answer counts.
  pipeline(body.stream, sending).catch(reject);
  try {
    return await promise;
  } catch (error) {
    const { message } = error as Error;
    const why = key === undefined ? message : message.replaceAll(key, '…');
    throw new GatewayRefusal(502, 'unreachable', `${name} cannot be reached: ${why}`);
  }
}

/** @throws GatewayRefusal 502 for what cannot be looked into */
function meterOf(answer: IncomingMessage, dropsUsage: boolean): Meter {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = answer.headers;
  if (encoding !== 'identity') {
    answer.destroy();
    throw new GatewayRefusal(
      502,
      'unreachable',
      'the provider compressed its answer, which it was asked not to do',
    );
  }
  if (/^text\/event-stream\b/i.test(type)) return eventMeter({ dropsUsage });
  return /^application\/json\b/i.test(type) ? jsonMeter() : noMeter();
}

interface Secret {
  readonly key: string | undefined;
  /** What stands in for it. */
  readonly token: string;
}

async function passOn(
  answer: IncomingMessage,
  { stream }: Meter,
  response: ServerResponse,
  { key, token }: Secret,
): Promise<void> {
  // Its length may change on the way.
  const { 'content-length': _, ...headers } = endToEnd(answer.headers);
  const hidden = key === undefined ? headers : JSON.parse(JSON.stringify(headers).replaceAll(key, token));
  response.writeHead(answer.statusCode ?? 502, hidden);
  response.flushHeaders();
  if (key === undefined) await pipeline(answer, stream, response);
  else await pipeline(answer, stream, withoutSecret(key, token), response);
}
