/** A provider of models that answers as OpenAI and Anthropic do, for tests of the egress gateway. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as the provider got it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ModelProvider extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly seen: Seen[];
  /** Lets streams go on beyond their first event. */
  release(): void;
}

export const openAiUsage = {
  prompt_tokens: 1000,
  completion_tokens: 200,
  prompt_tokens_details: { cached_tokens: 400 },
};

/** Starts it, at an address of this machine's loopback. Streams send one event, and the others after `release`. */
export async function modelProvider(host = '127.0.0.1'): Promise<ModelProvider> {
  const seen: Seen[] = [];
  const released = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    seen.push({ method, url, headers, body });
    const asked = (body.startsWith('{') ? JSON.parse(body) : {}) as Asked;
    if (url.includes('/fail')) json(response, 401, { error: `no such key: ${JSON.stringify(headers)}` });
    else if (url.endsWith('/chat/completions')) await chat(response, asked, released.promise);
    else if (url.endsWith('/messages')) await messages(response, asked, released.promise);
    else json(response, 200, { data: [], url });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    seen,
    release: () => released.resolve(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Asked {
  readonly model?: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

async function events(
  response: ServerResponse,
  all: readonly (readonly [name: string | undefined, value: unknown])[],
  go: Promise<void>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, [name, value]] of all.entries()) {
    if (index === 1) await go;
    const data = typeof value === 'string' ? value : JSON.stringify(value);
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  }
  response.end();
}

async function chat(
  response: ServerResponse,
  { model, stream, stream_options }: Asked,
  go: Promise<void>,
): Promise<void> {
  if (stream !== true) {
    json(response, 200, {
      model,
      choices: [{ message: { role: 'assistant', content: 'hello' } }],
      usage: openAiUsage,
    });
    return;
  }
  const part = (content: string) => [undefined, { model, choices: [{ delta: { content } }] }] as const;
  const usage = [undefined, { model, choices: [], usage: openAiUsage }] as const;
  const last = [undefined, '[DONE]'] as const;
  const told = stream_options?.include_usage === true ? [usage] : [];
  await events(response, [part('hel'), part('lo'), ...told, last], go);
}

async function messages(
  response: ServerResponse,
  { model, stream }: Asked,
  go: Promise<void>,
): Promise<void> {
  const usage = { input_tokens: 1000, cache_read_input_tokens: 400, output_tokens: 1 };
  if (stream !== true) {
    const content = [{ type: 'text', text: 'hello' }];
    json(response, 200, { type: 'message', model, content, usage: { ...usage, output_tokens: 200 } });
    return;
  }
  await events(
    response,
    [
      ['message_start', { type: 'message_start', message: { model, usage } }],
      ['content_block_delta', { type: 'content_block_delta', delta: { text: 'hello' } }],
      ['message_delta', { type: 'message_delta', usage: { output_tokens: 200 } }],
      ['message_stop', { type: 'message_stop' }],
    ],
    go,
  );
}
