/** Waiting until something holds of a sandbox: a state, a port that listens, a process that ended. */
import type { Call, Sandbox, SandboxState } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { parsePort } from '../backend/spec.ts';
import { SbxError } from '../errors.ts';
import { pause } from '../util/pause.ts';

/** What can be waited for. */
export type WaitCondition =
  | { readonly kind: 'running' | 'stopped' }
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'process'; readonly id: string };

/** Reads `running`, `stopped`, `port:3000` or `process:ID`. @throws SbxError `usage` */
export function parseWaitCondition(text: string, flag: string): WaitCondition {
  if (text === 'running' || text === 'stopped') return { kind: text };
  const at = text.indexOf(':');
  const rest = text.slice(at + 1);
  const kind = at < 0 ? '' : text.slice(0, at);
  if (kind === 'port') return { kind, port: parsePort(rest, `${flag} port`) };
  if (kind === 'process' && rest !== '') return { kind, id: rest };
  throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is nothing to wait for`, {
    hint: 'it can be: running, stopped, port:3000, process:ID',
  });
}

/** The condition as it is written. */
export function waitText(condition: WaitCondition): string {
  switch (condition.kind) {
    case 'running':
    case 'stopped':
      return condition.kind;
    case 'port':
      return `port:${condition.port}`;
    case 'process':
      return `process:${condition.id}`;
  }
}

/** How long to wait, and the capability index for refusals. */
export interface WaitOptions {
  /** Milliseconds; undefined: for ever. */
  readonly timeoutMs?: number | undefined;
  readonly having: CapabilityIndex;
}

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/**
 * Resolves once `condition` holds. A sandbox that is gone counts as stopped.
 * @throws SbxError `timeout`; `conflict` when it can no longer come true; `unsupported` when the backend cannot tell.
 */
export async function waitFor(
  sandbox: Sandbox,
  condition: WaitCondition,
  { timeoutMs, having }: WaitOptions,
  call: Call,
): Promise<void> {
  const look = lookerFor(sandbox, condition, having);
  const end = timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 1.5, LONGEST_PAUSE_MS)) {
    call.signal.throwIfAborted();
    if (await look(call)) return;
    const left = end - performance.now();
    if (left <= 0) throw timedOut(sandbox, condition, timeoutMs);
    await pause(Math.min(wait, left), call.signal);
  }
}

/** A function that looks once. Capabilities are asked for first, so that a refusal comes before any waiting. */
function lookerFor(
  sandbox: Sandbox,
  condition: WaitCondition,
  having: CapabilityIndex,
): (call: Call) => Promise<boolean> {
  switch (condition.kind) {
    case 'running':
    case 'stopped':
      return (call) => inState(sandbox, condition.kind, call);
    case 'port': {
      const ports = need(sandbox, 'ports', having);
      return async (call) => {
        if ((await ports.list(call)).some(({ port }) => port === condition.port)) return true;
        return mustRun(sandbox, condition, call);
      };
    }
    case 'process': {
      const processes = need(sandbox, 'processes', having);
      return async (call) => {
        for await (const each of processes.list(call)) {
          if (each.id === condition.id || each.name === condition.id) return each.state === 'exited';
        }
        throw new SbxError('not_found', `sandbox '${sandbox.name}' has no process '${condition.id}'`, {
          hint: `see its processes: sbx ps ${sandbox.name}`,
        });
      };
    }
  }
}

async function inState(sandbox: Sandbox, wanted: 'running' | 'stopped', call: Call): Promise<boolean> {
  const state = await stateOf(sandbox, call);
  if (state === wanted) return true;
  if (wanted === 'stopped') return state === 'failed' || state === undefined;
  if (state === undefined || state === 'failed') {
    throw new SbxError(
      'conflict',
      `sandbox '${sandbox.name}' ${state === undefined ? 'was removed' : 'failed'}: it will not run`,
    );
  }
  return false;
}

async function mustRun(sandbox: Sandbox, condition: WaitCondition, call: Call): Promise<false> {
  const state = await stateOf(sandbox, call);
  if (state === 'running' || state === 'creating' || state === 'paused') return false;
  throw new SbxError(
    'conflict',
    `sandbox '${sandbox.name}' ${state === undefined ? 'was removed' : 'does not run'}: ${waitText(condition)} will not come`,
  );
}

/** Its state, or undefined when it is gone. */
async function stateOf(sandbox: Sandbox, call: Call): Promise<SandboxState | undefined> {
  try {
    return (await sandbox.info(call)).state;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function timedOut(sandbox: Sandbox, condition: WaitCondition, timeoutMs: number | undefined): SbxError {
  return new SbxError(
    'timeout',
    `sandbox '${sandbox.name}': ${waitText(condition)} did not come true within ${(timeoutMs ?? 0) / 1000}s`,
    {
      retryable: true,
    },
  );
}
