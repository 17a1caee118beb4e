/** What listens inside a sandbox, read from the kernel's tables by a program that runs there. */
import { SbxError } from '../../errors.ts';
import script from '../../guest/ports.sh';
import { parsePorts } from '../../guest/ports.ts';
import type { Ports } from '../contract.ts';
import { type ExecSandbox, refuseNoShell, runGuest } from './run-guest.ts';

export interface DerivedPortsOptions {
  /** For a sandbox that shares the network of its host: count only what its own processes listen on. */
  readonly ownedOnly?: boolean;
  /** Who looks: processes of other users show their sockets to root alone. Default: the sandbox's user. */
  readonly user?: string;
}

const OUTPUT_LIMIT = 4 * 1024 * 1024;

export function derivePorts(sandbox: ExecSandbox, options: DerivedPortsOptions = {}): Ports {
  return {
    async list(call) {
      const result = await runGuest(sandbox, 'sbx-ports', script, [], call, {
        user: options.user,
        limit: OUTPUT_LIMIT,
      });
      refuseNoShell(sandbox, result.exit);
      if (!('code' in result.exit) || result.exit.code !== 0) {
        const unreadable = 'code' in result.exit && result.exit.code === 3;
        const why = unreadable ? 'it has no readable /proc/net/tcp' : result.stderr.trim().slice(0, 500);
        throw new SbxError('failed', `cannot see what listens in sandbox '${sandbox.name}': ${why}`);
      }
      return parsePorts(result.stdout.toString('utf8'), { ownedOnly: options.ownedOnly ?? false });
    },
  };
}
