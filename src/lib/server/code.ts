/**
 * Code that is run in a sandbox. A context is an interpreter in the background there, which keeps what was defined, also
 * when this server starts anew. What it answers is hostile: it is capped and checked.
 */
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Call, Sandbox } from '../backend/contract.ts';
import { type GuestResult, refuseNoShell, runGuest } from '../backend/derived/run-guest.ts';
import { unhurried } from '../backend/unhurried.ts';
import { SbxError } from '../errors.ts';
import commonScript from '../guest/code-common.sh';
import interruptScript from '../guest/code-interrupt.sh';
import javascriptProgram from '../guest/code-javascript.js.txt';
import keepScript from '../guest/code-keep.sh';
import pythonProgram from '../guest/code-python.py';
import runScript from '../guest/code-run.sh';
import startScript from '../guest/code-start.sh';
import { randomHex } from '../util/random-id.ts';
import type { Daemon } from './daemon.ts';
import type { Use } from './fleet.ts';
import { HttpRefusal } from './http/refusal.ts';
import { keyedLock } from './keyed-lock.ts';
import { items } from './store/items.ts';

export const languages = ['python', 'javascript'] as const;
export type Language = (typeof languages)[number];

/** A context, as the API tells it. */
export interface CodeContext {
  readonly contextId: string;
  readonly language: Language;
  readonly createdAt: string;
}

export const codeResult = Type.Object({
  stdout: Type.String(),
  stderr: Type.String(),
  results: Type.Array(Type.Object({ text: Type.String() })),
  error: Type.Union([Type.String(), Type.Null()]),
});
export type CodeResult = Static<typeof codeResult>;

/** What a use of a sandbox has that code needs. */
type Place = Pick<Use, 'record' | 'sandbox'>;

export interface Code {
  list(sandbox: string): CodeContext[];
  get(sandbox: string, contextId: string): CodeContext | undefined;
  /** Starts an interpreter that stays. @throws HttpRefusal 422 where the sandbox has none. */
  make(place: Place, language: Language, call: Call): Promise<CodeContext>;
  /** Runs code in a context, one run at a time. @throws HttpRefusal 409 for one whose interpreter has ended. */
  run(place: Place, contextId: string, code: string, timeoutMs: number, call: Call): Promise<CodeResult>;
  /** Runs code in an interpreter of its own, of which nothing stays. */
  runOnce(place: Place, language: Language, code: string, timeoutMs: number, call: Call): Promise<CodeResult>;
  /** Forgets a context and ends its interpreter; in a paused sandbox, when it wakes. @returns whether there was one. */
  remove(sandbox: string, contextId: string, place: () => Promise<Place & Disposable>): Promise<boolean>;
  /** Ends, in a sandbox that runs again, the interpreters of contexts that were removed meanwhile. */
  finish(id: string, sandbox: Sandbox, call: Call): Promise<void>;
}

const PROGRAMS: Readonly<Record<Language, string>> = { python: pythonProgram, javascript: javascriptProgram };
const INTERPRETERS: Readonly<Record<Language, string>> = { python: 'python3', javascript: 'node' };

const START = `${commonScript}\n${startScript}`;
const RUN = `${commonScript}\n${runScript}`;
const STOP = `${commonScript}\nstop "$1"`;
const INTERRUPT = `${commonScript}\n${interruptScript}`;
const ONCE = `${START}\ntrap 'stop "$id"' EXIT\nset -- "$id" once\n${runScript}`;

const NO_INTERPRETER = 10;
const ENDED_AT_ONCE = 11;
const ENDED_BEFORE = 13;
const ENDED = 14;

/** More than the programs in the sandbox ever answer. */
const ANSWER_LIMIT = 32 * 1024 * 1024;
/** How long a run may take to hear that it is interrupted, before its interpreter is ended: milliseconds. */
const PATIENCE_MS = 2000;

const isResult = Compile(codeResult);
export function openCode({ db, now, onFresh }: Pick<Daemon, 'db' | 'now' | 'onFresh'>): Code {
  const contexts = items<CodeContext>(db, 'code-context');
  const removed = items<string>(db, 'code-removed');
  const lock = keyedLock();
  onFresh.add((id) => {
    contexts.clear(id);
    removed.clear(id);
  });
  const forget = async ({ record, sandbox }: Place, contextId: string) => {
    contexts.remove(record.id, contextId);
    await stop(sandbox, contextId, unhurried);
  };
  return {
    list: contexts.list,
    get: contexts.get,
    async make({ record, sandbox }, language, call) {
      const contextId = `ctx${randomHex(6)}`;
      const args = [contextId, language, keepScript, PROGRAMS[language]];
      const result = await runGuest(sandbox, 'sbx-code', START, args, call, { env: record.env });
      check(sandbox, language, result);
      const context = { contextId, language, createdAt: now().toISOString() };
      contexts.put(record.id, contextId, context);
      return context;
    },
    run: (place, contextId, code, timeoutMs, call) =>
      lock.run(contextId, async () => {
        const { record, sandbox } = place;
        if (contexts.get(record.id, contextId) === undefined) throw new HttpRefusal(404, 'context not found');
        const running = runGuest(sandbox, 'sbx-code', RUN, [contextId, randomHex(4)], call, {
          input: code,
          limit: ANSWER_LIMIT,
        });
        const result = await inTime(running, timeoutMs, call);
        if (result === undefined) {
          await runGuest(sandbox, 'sbx-code', INTERRUPT, [contextId], unhurried);
          const late = await inTime(running, PATIENCE_MS, unhurried);
          if (late === undefined || codeOf(late) !== 0) await forget(place, contextId);
          await running;
          return timedOut(timeoutMs, call);
        }
        const ended = codeOf(result);
        if (ended === ENDED_BEFORE || ended === ENDED) await forget(place, contextId);
        if (ended === ENDED_BEFORE)
          throw new HttpRefusal(409, 'the interpreter of this context has ended; make another context');
        return resultOf(sandbox, result);
      }),
    async runOnce({ record, sandbox }, language, code, timeoutMs, call) {
      const id = `run${randomHex(6)}`;
      const args = [id, language, keepScript, PROGRAMS[language], 'once'];
      const running = runGuest(sandbox, 'sbx-code', ONCE, args, call, {
        env: record.env,
        input: code,
        limit: ANSWER_LIMIT,
      });
      const result = await inTime(running, timeoutMs, call);
      if (result !== undefined) {
        check(sandbox, language, result);
        return resultOf(sandbox, result);
      }
      await stop(sandbox, id, unhurried);
      await running;
      return timedOut(timeoutMs, call);
    },
    async remove(sandbox, contextId, place) {
      if (!contexts.remove(sandbox, contextId)) return false;
      removed.put(sandbox, contextId, contextId);
      using use = await place();
      if (use.record.status === 'running') {
        await stop(use.sandbox, contextId, unhurried);
        removed.remove(sandbox, contextId);
      }
      return true;
    },
    async finish(id, sandbox, call) {
      for (const contextId of removed.list(id)) {
        await stop(sandbox, contextId, call);
        removed.remove(id, contextId);
      }
    },
  };
}

async function stop(sandbox: Sandbox, id: string, call: Call): Promise<void> {
  await runGuest(sandbox, 'sbx-code', STOP, [id], call);
}

/** What comes of it, or undefined when the time is over or nobody waits any more. */
async function inTime<T>(running: Promise<T>, ms: number, { signal }: Call): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const over = () => resolve(undefined);
  const timer = setTimeout(over, ms);
  signal.addEventListener('abort', over, { once: true });
  if (signal.aborted) over();
  try {
    return await Promise.race([running, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', over);
  }
}

function timedOut(ms: number, { signal }: Call): CodeResult {
  if (signal.aborted) throw new SbxError('interrupted', 'the run was called off');
  return { stdout: '', stderr: '', results: [], error: `code execution timed out after ${ms / 1000}s` };
}

function codeOf({ exit }: GuestResult): number | undefined {
  return 'code' in exit ? exit.code : undefined;
}

function lastLine({ stderr }: GuestResult): string {
  return stderr.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
}

/** @throws when there is no interpreter to run anything. */
function check(sandbox: Sandbox, language: Language, result: GuestResult): void {
  refuseNoShell(sandbox, result.exit);
  const interpreter = INTERPRETERS[language];
  switch (codeOf(result)) {
    case NO_INTERPRETER:
      throw new HttpRefusal(422, `the sandbox has no ${interpreter}, which runs ${language}: install it`);
    case ENDED_AT_ONCE:
      throw new HttpRefusal(422, `${interpreter} in the sandbox does not start: ${lastLine(result)}`);
    case 0:
    case ENDED:
      return;
    default:
      throw new SbxError('failed', `sandbox '${sandbox.name}' cannot run code: ${lastLine(result)}`);
  }
}

function resultOf(sandbox: Sandbox, result: GuestResult): CodeResult {
  if (codeOf(result) === ENDED) {
    const code = lastLine(result);
    const how = /^\d{1,3}$/.test(code) ? ` with exit code ${code}` : '';
    return { stdout: '', stderr: '', results: [], error: `the interpreter has ended${how}` };
  }
  const told = parse(result.stdout);
  if (codeOf(result) !== 0 || !isResult.Check(told))
    throw new SbxError('failed', `sandbox '${sandbox.name}' gave an answer to code that makes no sense`);
  const { stdout, stderr, results, error } = told;
  return { stdout, stderr, results: results.map(({ text }) => ({ text })), error };
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
