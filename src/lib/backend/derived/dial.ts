/**
 * Connections into a sandbox through exec alone: each is a small relay that runs inside, with its standard input and
 * output as the stream. Made from whatever tool the sandbox has.
 */
import type { Duplex } from 'node:stream';
import { SbxError } from '../../errors.ts';
import relayScript from '../../guest/relay.sh';
import {
  parseRelayReport,
  parseRelayTool,
  type RelayStatus,
  type RelayTool,
  tellsEnd,
} from '../../guest/relay.ts';
import probeScript from '../../guest/relay-probe.sh';
import { duplexOf } from '../../transport/duplex.ts';
import type { Call, DialTarget, SandboxCapabilities } from '../contract.ts';
import { dialError } from './dial-error.ts';
import { type ExecSandbox, type GuestProcess, refuseNoShell, runGuest, startGuest } from './run-guest.ts';

type Dial = NonNullable<SandboxCapabilities['dial']>;

/** `dial` for a sandbox that can only exec. What the sandbox has is looked up once. */
export function deriveDial(sandbox: ExecSandbox): Dial {
  let tool: Promise<RelayTool> | undefined;
  return async (target, call) => {
    tool ??= probe(sandbox, call).catch((error: unknown) => {
      tool = undefined;
      throw error;
    });
    return dialThrough(sandbox, await tool, target, call);
  };
}

async function probe(sandbox: ExecSandbox, call: Call): Promise<RelayTool> {
  const result = await runGuest(sandbox, 'sbx-relay-probe', probeScript, [], call, { limit: 1024 });
  refuseNoShell(sandbox, result.exit);
  const tool = parseRelayTool(result.stdout.toString('latin1'));
  if (tool !== undefined) return tool;
  throw new SbxError('unsupported', `sandbox '${sandbox.name}' has nothing to reach its ports with`, {
    backend: sandbox.backend,
    hint: 'install one of socat, perl, python3, node, nc or bash in it',
  });
}

async function dialThrough(
  sandbox: ExecSandbox,
  tool: RelayTool,
  target: DialTarget,
  call: Call,
): Promise<Duplex> {
  const hosts = target.host === undefined ? ['127.0.0.1', '::1'] : [target.host];
  const args = [tool, String(target.port), ...hosts];
  const running = await startGuest(sandbox, 'sbx-relay', relayScript, args, call, { stdin: 'pipe' });
  const { stdin, stdout } = running;
  if (stdin === undefined) {
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no input stream for a guest program`);
  }
  const stop = () => {
    // The connection is over whatever comes of it; a backend that cannot say so has nothing left to tell.
    running.terminate(0).catch(() => undefined);
  };
  const report = listenTo(running, call.signal);
  const status = await report.status.catch((error: unknown) => {
    stop();
    throw dialError(target, error, call.signal);
  });
  if (status.type === 'connected') {
    const intact = tellsEnd(tool) ? report.ended : Promise.resolve(true);
    return duplexOf({ readable: stdout, writable: stdin, release: stop, intact });
  }
  stop();
  stdout.resume();
  const refused = status.type === 'refused';
  const why = refused ? 'refused' : status.why || 'no reason given';
  throw dialError(target, Object.assign(new Error(why), refused ? { code: 'ECONNREFUSED' } : {}));
}

/** Most characters of what a relay says that are looked at. */
const REPORT_LIMIT = 4096;

/** Hears what the relay says. All of it is read, so that it never blocks on it. */
function listenTo({ stderr }: GuestProcess, signal: AbortSignal) {
  const status = Promise.withResolvers<RelayStatus>();
  const ended = Promise.withResolvers<boolean>();
  let text = '';
  const abort = () => status.reject(new Error('aborted'));
  signal.addEventListener('abort', abort, { once: true });
  stderr.on('data', (part: Buffer) => {
    if (text.length > REPORT_LIMIT) return;
    text += part.toString('latin1');
    const report = parseRelayReport(text);
    if (report.status !== undefined) status.resolve(report.status);
    if (report.ended) ended.resolve(true);
  });
  stderr.on('error', (error) => {
    status.reject(error);
    ended.resolve(false);
  });
  stderr.on('close', () => {
    signal.removeEventListener('abort', abort);
    status.resolve({ type: 'failed', why: text.trim().slice(0, 200) });
    ended.resolve(false);
  });
  return { status: status.promise, ended: ended.promise };
}
