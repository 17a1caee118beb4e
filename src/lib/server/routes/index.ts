/** All that the server answers to. */
import { contractLinks } from '../contract/links.ts';
import { contractRoutes } from '../contract/routes.ts';
import type { Daemon } from '../daemon.ts';
import { egressRoutes } from '../egress/routes.ts';
import type { Route, UpgradeRoute } from '../http/route.ts';
import { envRoutes } from './env.ts';
import { execRoutes } from './exec.ts';
import { execSessionRoutes } from './exec-sessions.ts';
import { exposeRoutes } from './expose.ts';
import { fileRoutes } from './files.ts';
import { infoRoutes } from './info.ts';
import { logRoutes } from './logs.ts';
import { processRoutes } from './processes.ts';
import { sandboxRoutes } from './sandboxes.ts';
import { terminalRoute } from './terminal.ts';
import { waitPortRoutes } from './wait-port.ts';
import { watchRoutes } from './watch.ts';

export function routesOf(daemon: Daemon): Route[] {
  return [
    infoRoutes,
    sandboxRoutes,
    execRoutes,
    execSessionRoutes,
    envRoutes,
    fileRoutes,
    watchRoutes,
    processRoutes,
    logRoutes,
    waitPortRoutes,
    exposeRoutes,
    egressRoutes,
    contractRoutes,
  ].flatMap((each) => each(daemon));
}

export function upgradesOf(daemon: Daemon): UpgradeRoute[] {
  return [terminalRoute(daemon), ...contractLinks(daemon)];
}
