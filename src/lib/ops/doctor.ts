/** What works on this machine, and what to do about the rest. */
import type { Call, CheckResult } from '../backend/contract.ts';
import { type Backends, LOCAL } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { configPath } from '../store/config.ts';
import { formatSize } from '../util/size.ts';
import { checkBackend } from './backends.ts';
import { prune, prunedBytes } from './prune.ts';

/** A check and the backend that it is about; without one it is about sbx itself. */
export interface Finding extends CheckResult {
  readonly backend?: string | undefined;
}

/** All findings, and whether sandboxes can be made on the default backend. */
export interface Diagnosis {
  readonly findings: readonly Finding[];
  readonly usable: boolean;
}

/** What to look at. */
export interface DoctorOptions {
  readonly nodeVersion: string;
  /** The configuration folder. */
  readonly config: string;
  /** Rejects when the configuration is no good, which is then a finding. */
  readonly open: () => Promise<Backends>;
}

const OLDEST_NODE = 22;

/** Looks at everything. Rejects only when interrupted. */
export async function diagnose(options: DoctorOptions, call: Call): Promise<Diagnosis> {
  const findings: Finding[] = [checkNode(options.nodeVersion)];
  let backends: Backends;
  try {
    backends = await options.open();
    const target = backends.default();
    backends.describe(target);
    findings.push({
      name: 'configuration',
      status: 'ok',
      detail: `${configPath(options.config)}; default backend ${target}`,
    });
  } catch (error) {
    if (!(error instanceof SbxError) || error.code === 'interrupted') throw error;
    findings.push({ name: 'configuration', status: 'failed', detail: error.message, hint: error.hint });
    return { findings, usable: false };
  }
  for (const name of backends.names()) {
    const results = await checkBackend(backends, name, call);
    findings.push(...results.map((result) => ({ ...result, backend: name })));
    if (results.every(({ status }) => status !== 'failed'))
      findings.push(...(await leftovers(backends, name, call)));
  }
  const target = backends.default();
  const usable = findings.every(
    ({ status, backend }) => status !== 'failed' || (backend !== undefined && backend !== target),
  );
  return { findings: usable ? findings.map(soften(target)) : findings, usable };
}

/** A machine without local sandboxes is no failure where another backend is the default. */
function soften(target: string): (finding: Finding) => Finding {
  return (finding) =>
    finding.status === 'failed' && finding.backend === LOCAL && target !== LOCAL
      ? { ...finding, status: 'warning' }
      : finding;
}

function checkNode(version: string): Finding {
  const major = Number.parseInt(version, 10);
  const fine = major >= OLDEST_NODE;
  return {
    name: 'node',
    status: fine ? 'ok' : 'failed',
    detail: `Node.js ${version}`,
    ...(fine ? {} : { hint: `sbx needs Node.js ${OLDEST_NODE} or newer` }),
  };
}

/** Half-made and unused things on a backend that works. */
async function leftovers(backends: Backends, name: string, call: Call): Promise<Finding[]> {
  const { items, failures } = await prune(backends, [name], true, call);
  const failed = failures.map(
    ({ backend, error }): Finding => ({
      backend,
      name: 'leftovers',
      status: 'warning',
      detail: error.message,
      hint: error.hint,
    }),
  );
  if (items.length === 0) return failed;
  const bytes = prunedBytes(items);
  const size = bytes > 0 ? `, ${formatSize(bytes)}` : '';
  const detail = `${items.length} that nothing needs${size}`;
  return [
    ...failed,
    {
      backend: name,
      name: 'leftovers',
      status: 'warning',
      detail,
      hint: `sbx prune --backend ${name} --dry-run`,
    },
  ];
}
