/** A network of an engine that leads nowhere but to one port of this machine, made as docs/serve.md has it. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openEngine } from '../../../src/lib/backends/docker/engine.ts';

export interface ClosedNetwork extends AsyncDisposable {
  readonly name: string;
  /** This machine's address in it. */
  readonly gateway: string;
  /** Closes it but for this port of the gateway. */
  only(port: number): void;
}

const call = { signal: new AbortController().signal };

/** Makes it; its sandboxes do not reach each other. */
export async function closedNetwork(host: string): Promise<ClosedNetwork> {
  const engine = openEngine({ backend: 'docker', settings: { host }, env: {} });
  const name = `sbx-c${randomBytes(4).toString('hex')}`;
  const Options = { 'com.docker.network.bridge.name': name, 'com.docker.network.bridge.enable_icc': 'false' };
  const body = { Name: name, Internal: true, Options };
  await engine.json({ method: 'POST', path: '/networks/create', body, what: 'make a network' }, call);
  const path = `/networks/${name}`;
  const { IPAM } = (await engine.json({ method: 'GET', path, what: 'look at it' }, call)) as Made;
  const ports = new Set<number>();
  return {
    name,
    gateway: IPAM.Config[0]?.Gateway ?? '',
    only(port) {
      ports.add(port);
      rule('-I', name, port);
    },
    async [Symbol.asyncDispose]() {
      for (const port of ports) rule('-D', name, port);
      await engine.json({ method: 'DELETE', path, what: 'remove it' }, call);
    },
  };
}

function rule(action: '-I' | '-D', bridge: string, port: number): void {
  const but = ['-p', 'tcp', '!', '--dport', String(port)];
  execFileSync('iptables', ['-w', action, 'INPUT', '-i', bridge, ...but, '-j', 'REJECT']);
}

interface Made {
  readonly IPAM: { readonly Config: readonly { readonly Gateway: string }[] };
}
