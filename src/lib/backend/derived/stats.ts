/** Use of resources, made from exec: what control groups and /proc say inside. */
import { SbxError } from '../../errors.ts';
import script from '../../guest/stats.sh';
import { parseStats } from '../../guest/stats.ts';
import type { SandboxCapabilities } from '../contract.ts';
import { type ExecSandbox, runGuest } from './run-guest.ts';

export interface StatsOptions {
  /** Whether the network namespace is the sandbox's own, so that its counters are too. Default: yes. */
  readonly network?: boolean;
}

/** The `stats` capability of a sandbox that has exec. */
export function deriveStats(
  sandbox: ExecSandbox,
  options: StatsOptions = {},
): NonNullable<SandboxCapabilities['stats']> {
  return async (call) => {
    const scope = options.network === false ? 'none' : 'network';
    const { stdout, stderr, exit } = await runGuest(sandbox, 'sbx-stats', script, [scope], call, {
      limit: 16 * 1024,
    });
    if (!('code' in exit) || exit.code !== 0) {
      throw new SbxError(
        'failed',
        `sandbox '${sandbox.name}' could not say what it uses: ${stderr.trim() || 'no answer'}`,
      );
    }
    return parseStats(stdout.toString('latin1'), new Date());
  };
}
