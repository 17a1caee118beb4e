/** A container as a sandbox: from a listing, which costs one call for all, or from looking at one, which tells more. */
import type { PublishedPort, SandboxInfo, SandboxState } from '../../backend/contract.ts';
import type { ContainerConfig, HostConfig, Inspected, Listed } from './api.ts';
import { type Facts, factsOf, idOf, OWN_PREFIX } from './facts.ts';
import { unfinishedName } from './unfinished.ts';
import { volumesOf } from './volumes.ts';

/** Characters of a container's id that stand for it, as the docker command shows them. */
const SHORT = 12;

/** The id that a container's sandbox has: ours, else the beginning of the container's own. */
export function sandboxId(
  container: string,
  labels: Readonly<Record<string, string>> | null | undefined,
): string {
  return idOf(labels) ?? container.slice(0, SHORT);
}

/** What a listing tells of a container. */
export function listedInfo(
  backend: string,
  { Id, Names, Image, Created, State, Labels, ...more }: Listed,
): SandboxInfo {
  const facts = factsOf(Labels);
  const name = plainName(Names?.find((each) => each.lastIndexOf('/') === 0) ?? Names?.[0] ?? Id);
  return {
    id: sandboxId(Id, Labels),
    name: unfinishedName(name)?.name ?? name,
    backend,
    state: stateOf(State ?? '', name),
    createdAt: facts?.createdAt ?? new Date(Created * 1000).toISOString(),
    ...known(facts),
    image: facts === undefined ? Image : facts.image,
    labels: facts?.labels ?? foreignLabels(Labels),
    network: networkOf(more.HostConfig?.NetworkMode),
    ports: publishedPorts(
      (more.Ports ?? []).flatMap(({ Type, PrivatePort, PublicPort, IP }) =>
        Type === 'tcp' && PrivatePort !== undefined && PublicPort !== undefined
          ? [{ port: PrivatePort, host: IP ?? '', on: PublicPort }]
          : [],
      ),
    ),
  };
}

/** All that is known of a container. */
export function inspectedInfo(backend: string, container: Inspected): SandboxInfo {
  const { Id, Name, State, Config, HostConfig, NetworkSettings } = container;
  const facts = factsOf(Config.Labels);
  const name = plainName(Name);
  const running = State.Running === true;
  const volumes = volumesOf(HostConfig.Binds);
  const bindings = Object.entries(NetworkSettings?.Ports ?? {}).flatMap(([port, on]) =>
    (port.endsWith('/tcp') ? (on ?? []) : []).map(({ HostIp, HostPort }) => ({
      port: Number.parseInt(port, 10),
      host: HostIp ?? '',
      on: Number(HostPort),
    })),
  );
  return {
    id: sandboxId(Id, Config.Labels),
    name: unfinishedName(name)?.name ?? name,
    backend,
    state: stateOf(State.Status ?? '', name),
    createdAt: facts?.createdAt ?? new Date(Date.parse(container.Created)).toISOString(),
    startedAt: running ? time(State.StartedAt) : undefined,
    ...(facts === undefined ? foreign(container) : known(facts)),
    image: facts === undefined ? Config.Image : facts.image,
    labels: facts?.labels ?? foreignLabels(Config.Labels),
    network: networkOf(HostConfig.NetworkMode),
    ports: publishedPorts(bindings),
    volumes: volumes.length > 0 ? volumes : undefined,
    runtime: runtimeOf(HostConfig),
    reason: !running && State.OOMKilled === true ? 'out of memory' : undefined,
  };
}

/** Whether its time to live is over. */
export function isExpired(facts: Pick<Facts, 'expiresAt'> | undefined): boolean {
  return facts?.expiresAt !== undefined && Date.parse(facts.expiresAt) <= Date.now();
}

/** The host name that was asked for; one that the engine made up is the beginning of the container's id. */
export function givenHostname(
  container: string,
  { Hostname }: Pick<ContainerConfig, 'Hostname'>,
): string | undefined {
  return Hostname === undefined || container.startsWith(Hostname) ? undefined : Hostname;
}

/** What it is run with; Podman says `oci` whatever that is. */
export function runtimeOf({ Runtime }: Pick<HostConfig, 'Runtime'>): string | undefined {
  return Runtime === 'oci' ? undefined : Runtime || undefined;
}

/** A name as the engine gives it, without the slash. */
export function plainName(name: string): string {
  return name.startsWith('/') ? name.slice(1) : name;
}

function known(facts: Facts | undefined): Partial<SandboxInfo> {
  if (facts === undefined) return {};
  const { expiresAt, snapshot, limits, workdir, user, command } = facts;
  return {
    expiresAt,
    snapshot,
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    ...{ workdir, user, command },
  };
}

function foreign({ Config, HostConfig }: Inspected): Partial<SandboxInfo> {
  const { NanoCpus, Memory, PidsLimit } = HostConfig;
  const limits = {
    cpus: NanoCpus ? NanoCpus / 1e9 : undefined,
    memory: Memory || undefined,
    pids: PidsLimit && PidsLimit > 0 ? PidsLimit : undefined,
  };
  return {
    limits: Object.values(limits).some((value) => value !== undefined) ? limits : undefined,
    workdir: Config.WorkingDir || '/',
    user: Config.User || undefined,
    command: [...(Config.Entrypoint ?? []), ...(Config.Cmd ?? [])],
  };
}

/** Docker Engine API, "ContainerInspect", State.Status. */
function stateOf(status: string, name: string): SandboxState {
  switch (status) {
    case 'running':
    case 'restarting':
      return unfinishedName(name) === undefined ? 'running' : 'creating';
    case 'paused':
      return 'paused';
    case 'dead':
      return 'failed';
    default:
      return 'stopped';
  }
}

function networkOf(mode: string | undefined): string | undefined {
  return mode === 'default' || mode === 'bridge' ? 'private' : mode;
}

function foreignLabels(labels: Listed['Labels']): Record<string, string> {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !key.startsWith(OWN_PREFIX)));
}

/** Once each: engines list a port for IPv4 and IPv6. */
function publishedPorts(
  bindings: readonly { readonly port: number; readonly host: string; readonly on: number }[],
): PublishedPort[] | undefined {
  const found = new Map<number, PublishedPort>();
  for (const { port, host, on } of bindings) {
    if (found.has(port) || !(on > 0)) continue;
    const everywhere = host === '' || host === '0.0.0.0' || host === '::';
    const shown = everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
    found.set(port, { port, url: `http://${shown}:${on}` });
  }
  return found.size > 0 ? [...found.values()].sort((a, b) => a.port - b.port) : undefined;
}

/** A time of the engine's, to milliseconds; its year 1 stands for never. */
export function time(text: string | undefined): string | undefined {
  const at = Date.parse(text ?? '');
  return at > 0 ? new Date(at).toISOString() : undefined;
}
