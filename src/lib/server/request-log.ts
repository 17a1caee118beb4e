/** The request log: one JSON object a line. Routes instead of paths, so that neither ids nor keys stand in it. */
import type { Handled } from './http/dispatch.ts';

export function requestLine({ method, route, status, startedAt, ms }: Handled, traceId: string): string {
  return JSON.stringify({ time: new Date(startedAt).toISOString(), method, route, status, ms, traceId });
}
