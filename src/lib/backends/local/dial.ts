/** Ports of a local sandbox: plain sockets where it shares this machine's network, else through its namespace. */
import type { SandboxCapabilities } from '../../backend/contract.ts';
import type { InitProcess } from './init-process.ts';
import { createNamespaceDialer, type NamespaceDialer } from './netns-dialer.ts';
import { isRoot } from './system.ts';

export interface Dialer {
  readonly dial: NonNullable<SandboxCapabilities['dial']>;
  readonly listen: NonNullable<SandboxCapabilities['listen']>;
}

const dialers = new Map<string, NamespaceDialer>();

/** The way to the ports of the sandbox of `init`; one helper serves all uses in this process. */
export async function openDialer(init: InitProcess): Promise<Dialer> {
  if (init.network === 'host') {
    const { hostDialer } = await import('./host-dialer.ts');
    return hostDialer;
  }
  const key = `${init.pid}/${init.startTicks}`;
  let dialer = dialers.get(key);
  if (dialer === undefined) {
    dialer = createNamespaceDialer({ pid: init.pid, userns: !isRoot() });
    dialers.set(key, dialer);
  }
  return dialer;
}
