/** Background processes: commands that outlive the request. */
import Type from 'typebox';
import type { Call, Sandbox, SignalName } from '../../backend/contract.ts';
import { runGuest } from '../../backend/derived/run-guest.ts';
import { need } from '../../backend/need.ts';
import { SIGNAL_NUMBERS } from '../../backend/signal-numbers.ts';
import { checkExecSpec } from '../../backend/spec.ts';
import { SbxError } from '../../errors.ts';
import logPathScript from '../../guest/process-log-path.sh';
import { waitFor } from '../../ops/wait.ts';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { strings } from '../shapes.ts';
import { type ProcessRecord, processRecord, processRecords } from './process-records.ts';

const PATH_LIMIT = 4096;
/** After these a process is expected to end. */
const ENDING: readonly SignalName[] = ['TERM', 'KILL', 'INT', 'HUP', 'QUIT', 'ABRT'];
/** Milliseconds that a process has for that before the client hears that the signal was sent. */
const ENDING_MS = 2000;

export function processRoutes({ db, fleet, having, now, onFresh }: Daemon): Route[] {
  const records = processRecords(db);
  onFresh.add(records.clear);
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/processes',
      summary: 'start a shell command that goes on by itself',
      body: Type.Object({
        command: Type.String({ minLength: 1 }),
        cwd: Type.Optional(Type.String()),
        env: Type.Optional(strings),
      }),
      answers: { 201: { description: 'the process', body: processRecord } },
      async handle({ params, body, signal, json }) {
        const { command, cwd, env } = body;
        using use = await fleet.use(params.id ?? '', { signal });
        const { record, sandbox } = use;
        const spec = checkExecSpec({
          argv: ['/bin/sh', '-c', command],
          env: { ...record.env, ...env },
          workdir: cwd,
          stdin: 'none',
        });
        const startedAt = now().toISOString();
        const { id, pid = 0 } = await need(sandbox, 'processes', having).start(spec, { signal });
        const logPath = await logPathOf(sandbox, id, { signal });
        const made: ProcessRecord = {
          procId: id,
          pid,
          command,
          status: 'running',
          exitCode: null,
          startedAt,
          logPath,
        };
        records.put(record.id, id, made);
        json(201, made);
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/processes',
      summary: 'the processes that were started here since it runs, the oldest first',
      answers: { 200: { description: 'them', body: Type.Object({ processes: Type.Array(processRecord) }) } },
      async handle({ params, signal, json }) {
        const { id, status } = fleet.get(params.id ?? '');
        // Nothing ends in one that does not run, and not every backend could ask.
        if (status !== 'running') return json(200, { processes: records.list(id) });
        using look = await fleet.look(id, { signal });
        const processes = need(look.sandbox, 'processes', having).list({ signal });
        json(200, { processes: await records.refresh(id, processes) });
      },
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id/processes/:procId',
      summary: 'send a signal to a process and all that it started; TERM where none is named',
      body: Type.Object({ signal: Type.Optional(Type.String()) }),
      answers: {
        200: {
          description: 'it is sent; one that has ended needs none',
          body: Type.Object({ ok: Type.Literal(true) }),
        },
      },
      async handle({ params, body, signal, json }) {
        const { id, status } = fleet.get(params.id ?? '');
        const { procId } = records.get(id, params.procId ?? '');
        const name = signalOf(body.signal);
        using look = await fleet.look(id, { signal });
        try {
          await need(look.sandbox, 'processes', having).kill(procId, name, { signal });
          if (ENDING.includes(name)) await ended(look.sandbox, procId, { signal });
        } catch (error) {
          // It has ended already, where it is not the sandbox that does not run.
          if (status !== 'running' || !isOneOf(error, 'conflict', 'not_found')) throw error;
        }
        json(200, { ok: true });
      },
    }),
  ];

  /** So that whoever asks next sees it; a process may also take no notice of the signal. */
  async function ended(sandbox: Sandbox, procId: string, call: Call): Promise<void> {
    try {
      await waitFor(sandbox, { kind: 'process', id: procId }, { timeoutMs: ENDING_MS, having }, call);
    } catch (error) {
      if (!isOneOf(error, 'timeout')) throw error;
    }
  }
}

function isOneOf(error: unknown, ...codes: readonly SbxError['code'][]): boolean {
  return error instanceof SbxError && codes.includes(error.code);
}

function signalOf(text = 'TERM'): SignalName {
  const name = text.replace(/^SIG/, '');
  if (Object.hasOwn(SIGNAL_NUMBERS, name)) return name as SignalName;
  throw new HttpRefusal(400, `signal must be one of ${Object.keys(SIGNAL_NUMBERS).join(', ')}`);
}

async function logPathOf(sandbox: Sandbox, id: string, call: Call): Promise<string> {
  const { stdout } = await runGuest(sandbox, 'sbx-log-path', logPathScript, [id], call, {
    limit: PATH_LIMIT,
  });
  const path = stdout.toString('utf8').trimEnd();
  if (path.startsWith('/')) return path;
  throw new SbxError('failed', `sandbox '${sandbox.name}' does not say where the log of its process is`);
}
