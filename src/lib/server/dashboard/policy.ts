/** What a browser may do with the dashboard: load its own files and talk to its own server, and nothing else. */
import type { IncomingMessage } from 'node:http';

/** Names and addresses with a port: nothing that could add to the policy. */
const HOST = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i;

/** Headers of every file of the dashboard. */
export function safeHeaders({ headers }: Pick<IncomingMessage, 'headers'>): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy(headers.host ?? ''),
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
  };
}

function policy(host: string): string {
  // Not every browser takes 'self' for WebSockets, too. Where a proxy speaks TLS for us the page is from https.
  const sockets = HOST.test(host) ? ` ws://${host} wss://${host}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${sockets}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // No text becomes markup or code, whoever tries.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
