/** Waiting until a port of a sandbox takes connections. */
import { isIPv4 } from 'node:net';
import Type from 'typebox';
import type { Call, Sandbox } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { LONGEST_MS, port } from '../shapes.ts';

const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 200;

const body = Type.Object({
  port,
  timeoutMs: Type.Optional(Type.Number({ minimum: 0, maximum: LONGEST_MS })),
  intervalMs: Type.Optional(Type.Number({ minimum: 1, maximum: LONGEST_MS })),
  host: Type.Optional(Type.String()),
});

export function waitPortRoutes({ fleet, having }: Daemon): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/wait-port',
      summary: 'wait until a port takes connections',
      body,
      answers: {
        200: {
          description: '`ready` is false when the time is over',
          body: Type.Object({ ready: Type.Boolean() }),
        },
      },
      async handle({ params, body, signal, json }) {
        checkHost(body.host);
        using use = await fleet.use(params.id ?? '', { signal });
        json(200, { ready: await isReady(use.sandbox, body, { signal }, having) });
      },
    }),
  ];
}

/** The loopback of the sandbox is all that it has for sure; what its network leads to is not the client's to try. */
function checkHost(host = 'localhost'): void {
  if (host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))) return;
  throw new HttpRefusal(400, 'host must be an address within the sandbox: 127.0.0.1, ::1 or localhost');
}

async function isReady(
  sandbox: Sandbox,
  { port, host, timeoutMs = TIMEOUT_MS, intervalMs = INTERVAL_MS }: Type.Static<typeof body>,
  { signal }: Call,
  having: CapabilityIndex,
): Promise<boolean> {
  const dial = need(sandbox, 'dial', having);
  const over = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, over]);
  const target = { port, host: host === 'localhost' ? undefined : host };
  while (!over.aborted) {
    signal.throwIfAborted();
    try {
      (await dial(target, { signal: either })).destroy();
      return true;
    } catch (error) {
      if (!over.aborted && !(error instanceof SbxError && error.code === 'unreachable')) throw error;
    }
    await pause(intervalMs, either);
  }
  return false;
}
