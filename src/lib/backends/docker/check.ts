/** What works of an engine, for `doctor` and `backend check`. */
import type { Call, CheckResult } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { addressText } from './address.ts';
import type { Docker } from './box.ts';

/** `GET /info`. */
interface EngineInfo {
  readonly ServerVersion?: string;
  readonly Driver?: string;
  readonly Warnings?: readonly string[] | null;
  readonly MemoryLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  readonly Containers?: number;
}

/** Rejects only when interrupted. */
export async function check(docker: Docker, call: Call): Promise<CheckResult[]> {
  const { engine } = docker;
  try {
    const { api, newest, isPodman, os } = await engine.version(call);
    const info = (await engine.json(
      { method: 'GET', path: '/info', what: 'ask the engine about itself' },
      call,
    )) as EngineInfo;
    const what = isPodman ? 'Podman' : 'Docker';
    const results: CheckResult[] = [
      {
        name: 'engine',
        status: os === undefined || os === 'linux' ? 'ok' : 'failed',
        detail: `${what} ${info.ServerVersion ?? ''} at ${addressText(await engine.address())}, API ${api} of ${newest}, ${info.Driver ?? 'unknown'} storage`,
        ...(os === undefined || os === 'linux'
          ? {}
          : { hint: 'sandboxes need an engine that runs Linux containers' }),
      },
      limits(info),
    ];
    if (docker.settings.image === undefined) {
      results.push({
        name: 'image',
        status: 'warning',
        detail: 'create needs --image each time',
        hint: `sbx config set backends.${docker.name}.image debian`,
      });
    }
    return results;
  } catch (error) {
    if (!(error instanceof SbxError) || error.code === 'interrupted') throw error;
    return [
      {
        name: 'engine',
        status: 'failed',
        detail: error.message,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      },
    ];
  }
}

function limits({ MemoryLimit, CpuCfsQuota, PidsLimit }: EngineInfo): CheckResult {
  const kept = { '--memory': MemoryLimit, '--cpus': CpuCfsQuota, '--pids': PidsLimit };
  const lost = Object.entries(kept).flatMap(([name, works]) => (works === false ? [name] : []));
  return lost.length === 0
    ? { name: 'limits', status: 'ok', detail: Object.keys(kept).join(', ') }
    : {
        name: 'limits',
        status: 'warning',
        detail: `cannot be kept there: ${lost.join(', ')}`,
        hint: 'see its warnings: docker info',
      };
}
