/** The files that tell a sandbox who and where it is, written anew at every start. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { type NetworkPlan, resolverFor } from './network.ts';
import type { SandboxRecord } from './record.ts';

/** Writes them into `folder`. They are mounted into the sandbox, which may have changed them but not replaced them. */
export function writeIdentity(folder: string, record: SandboxRecord, plan: NetworkPlan): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
  const hosts =
    fs.existsSync('/etc/hosts') && record.rootfs === undefined
      ? fs.readFileSync('/etc/hosts', 'utf8')
      : '127.0.0.1 localhost\n::1 localhost\n';
  // A name that cannot be looked up makes programs wait for a name server.
  const files = {
    hosts: `${hosts.trimEnd()}\n127.0.1.1 ${record.hostname}\n`,
    hostname: `${record.hostname}\n`,
    'resolv.conf': resolverFor(plan),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    fs.writeFileSync(path, text);
    fs.chmodSync(path, 0o644);
  }
}
