/** Errors as answers: one table from codes to statuses, and the refusals that only HTTP knows. */
import type { IncomingMessage } from 'node:http';
import { type ErrorCode, SbxError } from '../../errors.ts';

/** An answer that is not what was asked for. `message` is for the client. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'HttpRefusal';
    this.status = status;
    this.headers = headers;
  }
}

/** The refusal of a path or method that there is not; it leaves the query out, which may hold a key. */
export function noRoute({ method, url = '/' }: IncomingMessage): HttpRefusal {
  return new HttpRefusal(404, `no route for ${method} ${new URL(`http://server${url}`).pathname}`);
}

const STATUS: Readonly<Record<ErrorCode, number>> = {
  usage: 400,
  auth: 403,
  not_found: 404,
  conflict: 409,
  failed: 422,
  unsupported: 501,
  unreachable: 502,
  interrupted: 503,
  timeout: 504,
  bug: 500,
};

/** What a failure looks like to a client. */
export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly code?: ErrorCode; readonly hint?: string };
}

/** The answer for whatever was thrown. An error that nobody expected tells the client nothing but that. */
export function failureOf(error: unknown): Failure {
  if (error instanceof HttpRefusal)
    return { status: error.status, headers: error.headers, body: { error: error.message } };
  if (error instanceof SbxError) {
    const { code, message, hint } = error;
    return {
      status: STATUS[code],
      headers: {},
      body: { error: message, code, ...(hint === undefined ? {} : { hint }) },
    };
  }
  return { status: 500, headers: {}, body: { error: 'internal error', code: 'bug' } };
}

/** Of those that have no code of ours. */
const CODES: Readonly<Record<number, ErrorCode>> = { 400: 'usage', 404: 'not_found', 409: 'conflict' };

/** What a client is told of a failure where no status goes with it. */
export function failureWithin(error: unknown): Failure['body'] {
  const { status, body } = failureOf(error);
  return { code: CODES[status] ?? 'failed', ...body };
}

/** Why a stream breaks off, in words: the server stops, or what was thrown. */
export function reasonOf({ aborted, reason }: AbortSignal, error: unknown): string {
  const cause: unknown = aborted ? reason : error;
  return cause instanceof Error ? cause.message : String(cause);
}
