/** Commands, as streams of events. */

import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import Type from 'typebox';
import type { Call, Exit, Running } from '../../backend/contract.ts';
import { SIGNAL_NUMBERS } from '../../backend/signal-numbers.ts';
import { checkExecSpec } from '../../backend/spec.ts';
import { SbxError } from '../../errors.ts';
import type { Daemon } from '../daemon.ts';
import type { Use } from '../fleet.ts';
import type { EventStream } from '../http/events.ts';
import { HttpRefusal, reasonOf } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { environment } from '../shapes.ts';
import { type ExecSession, execSessions } from './exec-sessions.ts';

const body = Type.Object({
  command: Type.String({ minLength: 1 }),
  cwd: Type.Optional(Type.String()),
  env: Type.Optional(environment),
  sessionId: Type.Optional(Type.String()),
});

/** Milliseconds that a command has to end when its client is gone. */
const GRACE_MS = 2000;
/** Most bytes of a path that a session is told. */
const PATH_LIMIT = 4096;

export function execRoutes(daemon: Daemon): Route[] {
  const sessions = execSessions(daemon.db);
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/exec',
      summary: 'run a shell command; its output comes as events, then how it ended',
      body,
      answers: {
        200: {
          description: '`{type: "stdout" | "stderr", data}`, and in the end `{type: "exit", exitCode}`',
          type: 'text/event-stream',
        },
      },
      async handle({ params, body, signal, events }) {
        using use = await daemon.fleet.use(params.id ?? '', { signal });
        const { id, env } = use.record;
        const session = body.sessionId === undefined ? undefined : sessions.get(id, body.sessionId);
        if (body.sessionId !== undefined && session === undefined)
          throw new HttpRefusal(404, 'session not found');
        const command = {
          text: body.command,
          env: { ...env, ...session?.env, ...body.env },
          cwd: body.cwd ?? session?.cwd,
          follows: session !== undefined,
        };
        const follow = (cwd: string) => {
          if (session !== undefined && cwd !== session.cwd)
            sessions.put(id, session.sessionId, { ...session, cwd } satisfies ExecSession);
        };
        await stream(use, command, events, follow, { signal });
      },
    }),
  ];
}

interface Command {
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Whether the folder that the command ends in is wanted. */
  readonly follows: boolean;
}

/**
 * Runs the text, and then tells on a descriptor of its own where it ended. The line break after it keeps a comment at its end from
 * swallowing ours.
 */
const FOLLOW = '{\n%\n}\nsbx_code=$?\npwd > "$SBX_FOLLOW"\nexit "$sbx_code"';

/** @param follow is told the folder that the command ended in, where it is wanted and known, before the client hears of the end. */
async function stream(
  { sandbox }: Use,
  { text, env, cwd, follows }: Command,
  events: () => EventStream,
  follow: (workdir: string) => void,
  call: Call,
): Promise<void> {
  const marker = follows ? `/tmp/.sbx-cwd-${crypto.randomUUID()}` : undefined;
  const script = marker === undefined ? text : FOLLOW.replace('%', () => text);
  const running = await sandbox.exec(
    checkExecSpec({
      argv: ['/bin/sh', '-c', script],
      env: marker === undefined ? env : { ...env, SBX_FOLLOW: marker },
      workdir: cwd,
      stdin: 'none',
    }),
    call,
  );
  const out = events();
  // When that fails, so does wait, which says why.
  const end = () => void running.terminate(GRACE_MS).catch(() => undefined);
  call.signal.addEventListener('abort', end, { once: true });
  if (call.signal.aborted) end();
  try {
    const exit = await pump(running, out);
    if (call.signal.aborted) {
      await out.send({ type: 'stderr', data: `${reasonOf(call.signal, undefined)}\n` });
    } else {
      const workdir = marker === undefined ? undefined : await taken(sandbox, marker, call);
      if (workdir !== undefined) follow(workdir);
    }
    await out.send({ type: 'exit', exitCode: codeOf(exit) });
  } catch (error) {
    await out.send({ type: 'stderr', data: reasonOf(call.signal, error) });
    await out.send({ type: 'exit', exitCode: 1 });
  } finally {
    call.signal.removeEventListener('abort', end);
    out.end();
  }
}

async function pump(running: Running, out: EventStream): Promise<Exit> {
  const copy = async (type: 'stdout' | 'stderr', from: Readable | undefined) => {
    if (from === undefined) return;
    const decoder = new StringDecoder('utf8');
    const send = async (data: string) => {
      if (data !== '') await out.send({ type, data });
    };
    for await (const chunk of from as AsyncIterable<Buffer>) await send(decoder.write(chunk));
    await send(decoder.end());
  };
  const [exit] = await Promise.all([
    running.wait(),
    copy('stdout', running.stdout),
    copy('stderr', running.stderr),
  ]);
  return exit;
}

/** Reads the file that FOLLOW left, and removes it. A command that called `exit` itself left none. */
async function taken(sandbox: Use['sandbox'], path: string, call: Call): Promise<string | undefined> {
  const { files } = sandbox.can;
  if (files === undefined) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  const content = await files.read(path, call).catch((error: unknown) => {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (content === undefined) return undefined;
  for await (const part of content as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > PATH_LIMIT) break;
    parts.push(part);
  }
  await files.remove(path, { recursive: false, force: true }, call);
  const workdir = Buffer.concat(parts).toString('utf8').replace(/\n$/, '');
  return workdir.startsWith('/') ? workdir : undefined;
}

/** The one number that the API has: 128 + n for a signal, as shells do. */
export function codeOf(exit: Exit): number {
  if ('code' in exit) return exit.code;
  return 128 + (SIGNAL_NUMBERS[exit.signal as keyof typeof SIGNAL_NUMBERS] ?? 0);
}
