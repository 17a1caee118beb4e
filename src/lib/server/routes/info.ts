/** What anybody may know of the server. */
import Type from 'typebox';
import { NO_IMAGE } from '../create.ts';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';

/** What this server can do beyond the hotcell API, by name and version: clients use what they know. */
export const EXTENSIONS: Readonly<Record<string, number>> = {
  /** The operations of a sandbox by name, and links. */
  contract: 1,
  /** Snapshots, copies, new names and lifetimes of sandboxes. */
  snapshots: 1,
  fork: 1,
  rename: 1,
  lifetime: 1,
  /** `?session= of a terminal. */
  terminalSession: 1,
};

const info = Type.Object({
  driver: Type.String(),
  drivers: Type.Array(Type.String()),
  defaultImage: Type.String(),
  proxyPort: Type.Number(),
  costCpuPerHour: Type.Number(),
  costMemGbPerHour: Type.Number(),
  costEgressPerGb: Type.Number(),
  defaultSleepAfterMs: Type.Number(),
  auth: Type.Boolean(),
  otlp: Type.Boolean(),
  egressPort: Type.Number(),
  egressProviders: Type.Array(Type.String()),
  defaultMemoryMb: Type.Number(),
  defaultCpus: Type.Number(),
  defaultPidsLimit: Type.Number(),
  extensions: Type.Record(Type.String(), Type.Number()),
});

export function infoRoutes({ settings, egress, previews, backend }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/healthz',
      summary: 'whether the default driver works',
      open: true,
      answers: {
        200: {
          description: 'it does',
          body: Type.Object({ ok: Type.Literal(true), driver: Type.String() }),
        },
        503: {
          description: 'it does not',
          body: Type.Object({ ok: Type.Literal(false), error: Type.String() }),
        },
      },
      async handle({ json, signal }) {
        const checks = await (await backend(settings.driver)).check({ signal });
        const broken = checks.find(({ status }) => status === 'failed');
        if (broken === undefined) json(200, { ok: true, driver: settings.driver });
        else json(503, { ok: false, error: `${broken.name}: ${broken.detail}` });
      },
    }),
    route({
      method: 'GET',
      path: '/info',
      summary: 'drivers, defaults, rates and extensions',
      open: true,
      answers: {
        200: { description: 'nothing that is secret', body: info },
      },
      async handle({ json }) {
        const { limits, cost } = settings;
        const { manifest } = await backend(settings.driver);
        const none = manifest.createOptions.includes('image') ? '' : NO_IMAGE;
        json(200, {
          driver: settings.driver,
          drivers: settings.drivers,
          defaultImage: settings.image ?? none,
          proxyPort: previews.port,
          costCpuPerHour: cost.cpuPerHour,
          costMemGbPerHour: cost.memGbPerHour,
          costEgressPerGb: cost.egressPerGb,
          defaultSleepAfterMs: settings.sleepAfterMs,
          auth: settings.apiKey !== undefined,
          otlp: settings.otlpEndpoint !== undefined,
          egressPort: egress.port,
          egressProviders: settings.egress.providers.map(({ name }) => name),
          defaultMemoryMb: limits.memoryMb,
          defaultCpus: limits.cpus,
          defaultPidsLimit: limits.pidsLimit,
          extensions: EXTENSIONS,
        });
      },
    }),
  ];
}
