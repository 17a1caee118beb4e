/** The server's description of itself. */
import Type from 'typebox';
import { type Route, route, type UpgradeRoute } from '../http/route.ts';
import { describeRoutes } from '../openapi.ts';

/** @param routes all others. */
export function openApiRoute(routes: readonly Route[], upgrades: readonly UpgradeRoute[]): Route {
  const own = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'this description',
    answers: { 200: { description: 'OpenAPI 3.1', body: Type.Record(Type.String(), Type.Unknown()) } },
    handle: ({ json }) => json(200, document),
  });
  const document = describeRoutes([...routes, own], upgrades);
  return own;
}
