/** All that the server answers to. */
import { contractLinks } from '../contract/links.ts';
import { contractRoutes } from '../contract/routes.ts';
import type { Daemon } from '../daemon.ts';
import type { Route, UpgradeRoute } from '../http/route.ts';
import { envRoutes } from './env.ts';
import { execRoutes } from './exec.ts';
import { execSessionRoutes } from './exec-sessions.ts';
import { infoRoutes } from './info.ts';
import { sandboxRoutes } from './sandboxes.ts';

export function routesOf(daemon: Daemon): Route[] {
  return [infoRoutes, sandboxRoutes, execRoutes, execSessionRoutes, envRoutes, contractRoutes].flatMap(
    (each) => each(daemon),
  );
}

export function upgradesOf(daemon: Daemon): UpgradeRoute[] {
  return contractLinks(daemon);
}
