/** What a container is made with. Docker Engine API, "ContainerCreate". */
import type { CreateSpec } from '../../backend/contract.ts';
import type { Mount } from './api.ts';
import { type Facts, ownLabels } from './facts.ts';
import idle from './idle.sh';
import type { Source } from './source.ts';
import { bindOf } from './volumes.ts';

export interface BodyOptions {
  readonly spec: CreateSpec;
  readonly source: Source;
  readonly facts: Facts;
  /** The sandbox's id. */
  readonly id: string;
  /** The folder that it shares with its clients. */
  readonly pipes: Mount | undefined;
  /** Whether process 1 waits for its maker: see maker.ts. */
  readonly waits: boolean;
}

/** Without comments: `ps` inside shows it. */
const IDLE = idle.replaceAll(/^ *#.*\n/gm, '');

/** The body for a container of ours. */
export function containerBody({ spec, source, facts, id, pipes, waits }: BodyOptions): object {
  const { limits, ports = [] } = spec;
  const until = facts.expiresAt === undefined ? '' : String(Math.ceil(Date.parse(facts.expiresAt) / 1000));
  return {
    Image: source.image,
    ...(spec.hostname === undefined ? {} : { Hostname: spec.hostname }),
    // Process 1 ends everybody's processes; commands run as the user of the facts.
    User: '0',
    WorkingDir: facts.workdir,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    Labels: ownLabels(id, facts, source.fork),
    Entrypoint: ['/bin/sh', '-c', IDLE, 'sbx-idle'],
    Cmd: [waits ? 'wait' : 'now', until],
    // Something to read that nobody writes to.
    OpenStdin: true,
    StdinOnce: waits,
    StopSignal: 'SIGTERM',
    // The image's own looks after a service that is not process 1.
    Healthcheck: { Test: ['NONE'] },
    ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
    HostConfig: {
      ...(limits.cpus === undefined ? {} : { NanoCpus: Math.round(limits.cpus * 1e9) }),
      // Swap would be on top.
      ...(limits.memory === undefined ? {} : { Memory: limits.memory, MemorySwap: limits.memory }),
      ...(limits.pids === undefined ? {} : { PidsLimit: limits.pids }),
      ...(spec.runtime === undefined ? {} : { Runtime: spec.runtime }),
      NetworkMode: spec.closedNetwork ?? spec.networkName ?? networkMode(spec.network),
      // On this machine only, at a port that the engine picks.
      PortBindings: Object.fromEntries(
        ports.map((port) => [`${port}/tcp`, [{ HostIp: '127.0.0.1', HostPort: '' }]]),
      ),
      ...(pipes === undefined ? {} : { Mounts: [pipes] }),
      Binds: (spec.volumes ?? []).map(bindOf),
    },
  };
}

function networkMode(network: CreateSpec['network']): string {
  return network === 'host' || network === 'none' ? network : 'bridge';
}
