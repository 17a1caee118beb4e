/** All that the server answers to. */
import { contractLinks } from '../contract/links.ts';
import { contractRoutes } from '../contract/routes.ts';
import type { Daemon } from '../daemon.ts';
import { egressRoutes } from '../egress/routes.ts';
import type { Route, UpgradeRoute } from '../http/route.ts';
import { backupRoutes } from './backups.ts';
import { capacityRoutes } from './capacity.ts';
import { codeRoutes } from './code.ts';
import { dashboardRoutes } from './dashboard.ts';
import { envRoutes } from './env.ts';
import { execRoutes } from './exec.ts';
import { execSessionRoutes } from './exec-sessions.ts';
import { exposeRoutes } from './expose.ts';
import { fileRoutes } from './files.ts';
import { infoRoutes } from './info.ts';

import { logRoutes } from './logs.ts';
import { metricsRoutes } from './metrics.ts';
import { openApiRoute } from './openapi.ts';
import { processRoutes } from './processes.ts';
import { sandboxRoutes } from './sandboxes.ts';
import { snapshotRoutes } from './snapshots.ts';
import { terminalRoute } from './terminal.ts';
import { traceRoutes } from './traces.ts';
import { waitPortRoutes } from './wait-port.ts';
import { watchRoutes } from './watch.ts';

const topics = [
  infoRoutes,
  dashboardRoutes,
  capacityRoutes,
  traceRoutes,
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
  backupRoutes,
  snapshotRoutes,
  codeRoutes,
  egressRoutes,
  metricsRoutes,
  contractRoutes,
];

export function routesOf(daemon: Daemon): Route[] {
  const routes = topics.flatMap((each) => each(daemon));
  return [...routes, openApiRoute(routes, upgradesOf(daemon))];
}

export function upgradesOf(daemon: Daemon): UpgradeRoute[] {
  return [terminalRoute(daemon), ...contractLinks(daemon)];
}
