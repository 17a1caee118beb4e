/** Spans of requests: the latest in memory, and all of them to whoever collects them. */
import { type HrTime, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Handled } from './http/dispatch.ts';

/** A span as the API tells it; times are epoch milliseconds. */
export interface TracedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: 'ok' | 'error';
}

export interface Traces {
  /** The span of a request that is over. @returns the id of its trace. */
  add(handled: Handled): string;
  /** The newest first. */
  latest(limit: number): TracedSpan[];
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}

/** How many spans stay in memory. */
export const SPANS_KEPT = 1000;
/** How long a collector that does not answer may hold up the end of the server, in milliseconds. */
const FAREWELL_MS = 2000;

/** @param endpoint of a collector; undefined: spans stay here. */
export async function openTraces(endpoint: string | undefined): Promise<Traces> {
  const kept: TracedSpan[] = [];
  const keep = (span: ReadableSpan) => {
    kept.push(told(span));
    if (kept.length > SPANS_KEPT) kept.shift();
  };
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'sbx', 'service.version': SBX_VERSION }),
    spanProcessors: [keeper(keep), ...(endpoint === undefined ? [] : [await sender(endpoint)])],
  });
  const tracer = provider.getTracer('sbx.serve', SBX_VERSION);
  return {
    add(handled) {
      const { startedAt, ms, status } = handled;
      const span = tracer.startSpan(nameOf(handled), {
        kind: SpanKind.SERVER,
        startTime: new Date(startedAt),
        attributes: attributesOf(handled),
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(new Date(startedAt + ms));
      return span.spanContext().traceId;
    },
    latest: (limit) => kept.slice(-limit).reverse(),
    async close() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, FAREWELL_MS);
      await Promise.race([provider.shutdown(), promise]);
      clearTimeout(timer);
    },
  };
}

/** The method and the route: `:id` for the sandbox, `:sub` for what is in it. */
function nameOf({ method, route }: Handled): string {
  return `${method} ${route.replace(/:(?!id\b)\w+/g, ':sub')}`;
}

function attributesOf({ method, target, status, connected }: Handled): Record<string, string | number> {
  if (connected !== undefined) return { 'sandbox.id': connected };
  return { 'http.method': method, 'http.target': target, 'http.status_code': status };
}

function told(span: ReadableSpan): TracedSpan {
  return {
    name: span.name,
    traceId: span.spanContext().traceId,
    startTime: milliseconds(span.startTime),
    endTime: milliseconds(span.endTime),
    attributes: span.attributes,
    status: span.status.code === SpanStatusCode.ERROR ? 'error' : 'ok',
  };
}

function milliseconds([seconds, nanoseconds]: HrTime): number {
  return seconds * 1000 + nanoseconds / 1e6;
}

function keeper(keep: (span: ReadableSpan) => void): SpanProcessor {
  return {
    onStart: () => undefined,
    onEnd: keep,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
}

/** Sends spans in batches; of what a collector does not take, the library keeps a bounded number. */
async function sender(endpoint: string): Promise<SpanProcessor> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  return new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) });
}
