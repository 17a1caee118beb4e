/** All routes of the API as data: for what holds of each of them, and for what a server says of itself. */
import type { Target } from './api.ts';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With parameters such as `:id`, the sandbox. */
  readonly path: string;
  /** Answers without a key. */
  readonly open?: true;
  /** Works in the sandbox: wakes a paused one and refuses for a stopped one. */
  readonly live?: true;
  /** The error for a sandbox that there is not, where it is another than `not found`. */
  readonly missing?: string;
  /** A WebSocket, reached by an upgrade. */
  readonly socket?: true;
}

/** The routes; the order is that of docs/protocol.md. */
export const routes: readonly Route[] = [
  { method: 'GET', path: '/healthz', open: true },
  { method: 'GET', path: '/info', open: true },
  { method: 'GET', path: '/', open: true },
  { method: 'GET', path: '/dashboard', open: true },
  { method: 'GET', path: '/capacity' },
  { method: 'GET', path: '/traces' },
  { method: 'POST', path: '/sandboxes' },
  { method: 'GET', path: '/sandboxes' },
  { method: 'GET', path: '/sandboxes/:id' },
  { method: 'DELETE', path: '/sandboxes/:id' },
  { method: 'POST', path: '/sandboxes/:id/stop' },
  { method: 'POST', path: '/sandboxes/:id/start' },
  { method: 'POST', path: '/sandboxes/:id/pause' },
  { method: 'POST', path: '/sandboxes/:id/exec', live: true },
  { method: 'GET', path: '/sandboxes/:id/env' },
  { method: 'POST', path: '/sandboxes/:id/env' },
  { method: 'POST', path: '/sandboxes/:id/sessions' },
  { method: 'GET', path: '/sandboxes/:id/sessions' },
  { method: 'DELETE', path: '/sandboxes/:id/sessions/:sid' },
  { method: 'POST', path: '/sandboxes/:id/sessions/:sid/env' },
  { method: 'POST', path: '/sandboxes/:id/files/write', live: true },
  { method: 'POST', path: '/sandboxes/:id/files/read', live: true },
  { method: 'POST', path: '/sandboxes/:id/files/mkdir', live: true },
  { method: 'POST', path: '/sandboxes/:id/files/list', live: true },
  { method: 'GET', path: '/sandboxes/:id/watch', live: true },
  { method: 'POST', path: '/sandboxes/:id/processes', live: true },
  { method: 'GET', path: '/sandboxes/:id/processes' },
  { method: 'DELETE', path: '/sandboxes/:id/processes/:procId' },
  { method: 'GET', path: '/sandboxes/:id/processes/:procId/logs' },
  { method: 'POST', path: '/sandboxes/:id/wait-port', live: true },
  { method: 'POST', path: '/sandboxes/:id/expose', live: true },
  { method: 'GET', path: '/sandboxes/:id/expose' },
  { method: 'DELETE', path: '/sandboxes/:id/expose/:port' },
  { method: 'GET', path: '/sandboxes/:id/terminal', live: true, socket: true },
  { method: 'POST', path: '/sandboxes/:id/backups', live: true },
  { method: 'GET', path: '/sandboxes/:id/backups' },
  { method: 'POST', path: '/sandboxes/:id/restore', live: true },
  { method: 'GET', path: '/backups' },
  { method: 'DELETE', path: '/backups/:backupId' },
  { method: 'POST', path: '/sandboxes/:id/code-contexts', live: true },
  { method: 'GET', path: '/sandboxes/:id/code-contexts' },
  { method: 'DELETE', path: '/sandboxes/:id/code-contexts/:ctxId', missing: 'context not found' },
  { method: 'POST', path: '/sandboxes/:id/run-code', live: true },
  { method: 'POST', path: '/sandboxes/:id/egress-tokens' },
  { method: 'GET', path: '/sandboxes/:id/egress-tokens' },
  { method: 'DELETE', path: '/sandboxes/:id/egress-tokens/:token' },
  { method: 'GET', path: '/sandboxes/:id/metrics' },
  { method: 'GET', path: '/sandboxes/:id/metrics/history' },
];

/** What a request to `route` asks for: the sandbox `id`, and things of it that there are not. */
export function targetOf({ method, path }: Route, id: string): Target {
  const filled = path.replace(':id', id).replace(':port', '65000').replace(/:\w+/, 'no-such-thing');
  return `${method} ${filled as `/${string}`}`;
}

/** Those that are asked by plain HTTP. */
export const plainRoutes = routes.filter(({ socket }) => socket === undefined);

/** Those of one sandbox. */
export const sandboxRoutes = plainRoutes.filter(({ path }) => path.includes(':id'));
