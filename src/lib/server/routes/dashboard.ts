/** The dashboard: a page and its files. They are open; all that they show is asked for with the key. */
import type { Daemon } from '../daemon.ts';
import { openAssets, PAGE, PARTS } from '../dashboard/assets.ts';
import { safeHeaders } from '../dashboard/policy.ts';
import { type Exchange, type Route, route } from '../http/route.ts';

export function dashboardRoutes(_: Daemon): Route[] {
  const asset = openAssets();
  const answer = async ({ request, response }: Pick<Exchange, 'request' | 'response'>, name: string) => {
    const { type, body, tag } = await asset(name);
    const headers = { ...safeHeaders(request), ETag: tag, 'Cache-Control': 'no-cache' };
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304, headers).end();
      return;
    }
    const contentType = `${type}; charset=utf-8`;
    response.writeHead(200, { ...headers, 'Content-Type': contentType, 'Content-Length': body.length });
    response.end(body);
  };
  const unchanged = { 304: { description: 'the client has it' } };
  return [
    ...['/', '/dashboard'].map((path) =>
      route({
        method: 'GET',
        path,
        summary: 'the dashboard',
        open: true,
        answers: { 200: { description: 'a page', type: 'text/html' }, ...unchanged },
        handle: (exchange) => answer(exchange, PAGE),
      }),
    ),
    ...Object.entries(PARTS).map(([name, type]) =>
      route({
        method: 'GET',
        path: `/dashboard/${name}`,
        summary: 'a file of the dashboard',
        open: true,
        answers: { 200: { description: 'the file', type }, ...unchanged },
        handle: (exchange) => answer(exchange, name),
      }),
    ),
  ];
}
