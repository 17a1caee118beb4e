/** Answers of the gateway that are not the provider's, in a form that the SDKs of all of them read. */
import type { ServerResponse } from 'node:http';

export type RefusalType =
  | 'unknown_token'
  | 'expired_token'
  | 'proxy_authentication_required'
  | 'spend_cap_reached'
  | 'provider_not_allowed'
  | 'model_not_allowed'
  | 'host_not_allowed'
  | 'rate_limit_reached'
  | 'unknown_provider'
  | 'request_too_large'
  | 'bad_request'
  | 'unreachable'
  | 'internal_error';

/** `message` is for whoever reads the log of a program in a sandbox. */
export class GatewayRefusal extends Error {
  readonly status: number;
  readonly type: RefusalType;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    type: RefusalType,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'GatewayRefusal';
    this.status = status;
    this.type = type;
    this.headers = headers;
  }
}

/** The answer for whatever was thrown; what nobody expected tells nothing. */
export function refusalOf(error: unknown): GatewayRefusal {
  return error instanceof GatewayRefusal
    ? error
    : new GatewayRefusal(500, 'internal_error', 'internal error of the egress gateway');
}

/** Both the OpenAI and the Anthropic style. */
export function refusalBody({ type, message }: GatewayRefusal): string {
  return JSON.stringify({ type: 'error', error: { type, code: type, message } });
}

export function sendRefusal(response: ServerResponse, refusal: GatewayRefusal): void {
  const text = refusalBody(refusal);
  response.writeHead(refusal.status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    ...refusal.headers,
  });
  response.end(text);
}
