/** What of a `create` the engine would take and then ignore, or only notice later; and what to do about its own refusals. */
import type { Call, CreateSpec, Sandbox } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Engine, segment } from './engine.ts';

/** Engines drop ports of a container that has no network of its own. */
export function refuseUnpublishable({ ports = [], network }: CreateSpec, backend: string): void {
  if (ports.length === 0 || (network !== 'none' && network !== 'host')) return;
  const [port = 0] = ports;
  const why = network === 'none' ? 'it has none' : 'its ports are those of the machine already';
  throw new SbxError('usage', `--port ${port} publishes nothing with --network ${network}: ${why}`, {
    backend,
    hint: `leave --port out; to reach one from here: sbx forward NAME ${port}`,
  });
}

/** A network that shall keep sandboxes in must have been made to. */
export async function refuseOpenNetwork(
  engine: Engine,
  { closedNetwork: name }: CreateSpec,
  call: Call,
): Promise<void> {
  if (name === undefined) return;
  const path = `/networks/${segment(name)}`;
  const network = await engine.json({ method: 'GET', path, what: `look at network '${name}'` }, call);
  if ((network as { readonly Internal?: boolean }).Internal === true) return;
  throw new SbxError('usage', `network '${name}' has a way out`, {
    backend: engine.backend,
    hint: 'make one that has none: docker network create --internal NAME',
  });
}

/** The engine looks a user up when something is run as him. */
export async function refuseUnknownUser(sandbox: Sandbox, { user }: CreateSpec, call: Call): Promise<void> {
  if (user === undefined || /^\d+(:\d+)?$/.test(user)) return;
  await (await sandbox.exec({ argv: ['/bin/sh', '-c', ':'], user, stdin: 'none' }, call)).wait();
}

/** The engine's refusal, with what to look at where an option names something of the engine's. */
export function withHint(error: unknown, { networkName, runtime }: CreateSpec): unknown {
  if (!(error instanceof SbxError) || error.hint !== undefined) return error;
  const { code, message, backend } = error;
  const hint =
    runtime !== undefined && code === 'failed'
      ? "see its runtimes: docker info --format '{{.Runtimes}}'"
      : networkName !== undefined && code === 'not_found'
        ? 'see its networks: docker network ls'
        : undefined;
  return hint === undefined ? error : new SbxError(code, message, { backend, hint, cause: error });
}
