/** What the namespace dialer and its helper say to each other over Node's IPC channel. */

export interface HelperRequest {
  readonly id: number;
  readonly type: 'dial' | 'listen';
  readonly port: number;
  readonly host?: string | undefined;
}

/** `ready` comes first; each other reply answers one request, a successful one along with the socket or server. */
export type HelperReply =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: number }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code?: string | undefined;
      readonly message: string;
    };
