/** The API as the topics speak it: `answer(201, 'POST /sandboxes', {…})`. */
import { expect } from 'vitest';
import { type EventStream, openStream } from './event-stream.ts';
import { type Answer, type Asked, type HotcellServer, jsonOf, send } from './server.ts';

/** What a command did. */
export interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** `METHOD /path?query`. */
export type Target = `${'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'HEAD' | 'OPTIONS'} /${string}`;

export interface Api {
  server(): HotcellServer;
  /** The whole answer, whatever it is. */
  ask(target: Target, more?: Pick<Asked, 'headers' | 'body'>): Promise<Answer>;
  /** The JSON of an answer that must have this status. */
  answer<T = unknown>(status: number, target: Target, body?: unknown): Promise<T>;
  /** The text of an error that must have this status and hold it as `error`. */
  refusal(status: number, target: Target, body?: unknown): Promise<string>;
  stream(target: Target, body?: unknown): Promise<EventStream>;
  /** Runs a command to its end. */
  exec(id: string, command: string, options?: Readonly<Record<string, unknown>>): Promise<Result>;
  /** What a command prints, without the last newline; it must exit with 0. */
  say(id: string, command: string, options?: Readonly<Record<string, unknown>>): Promise<string>;
}

/** The API of whatever `server` returns when a request is made. */
export function createApi(server: () => HotcellServer): Api {
  const asked = (target: Target, more: Pick<Asked, 'headers' | 'body'>): Asked => {
    const space = target.indexOf(' ');
    return { method: target.slice(0, space), path: target.slice(space + 1), ...more };
  };
  const ask: Api['ask'] = (target, more = {}) => send(server(), asked(target, more));
  const stream: Api['stream'] = (target, body) => openStream(server(), asked(target, { body }));
  const exec: Api['exec'] = async (id, command, options = {}) => {
    const events = await (await stream(`POST /sandboxes/${id}/exec`, { command, ...options })).end();
    const last = events.pop();
    expect(last).toStrictEqual({ type: 'exit', exitCode: expect.any(Number) });
    for (const event of events)
      expect(event).toStrictEqual({
        type: expect.stringMatching(/^std(out|err)$/),
        data: expect.any(String),
      });
    const text = (type: string) =>
      events
        .filter((event) => event.type === type)
        .map(({ data }) => data)
        .join('');
    return { stdout: text('stdout'), stderr: text('stderr'), exitCode: Number(last?.exitCode) };
  };
  return {
    server,
    ask,
    stream,
    exec,
    async answer<T>(status: number, target: Target, body?: unknown) {
      return jsonOf(await ask(target, { body }), status) as T;
    },
    async refusal(status, target, body) {
      const told = jsonOf(await ask(target, { body }), status);
      expect(told).toMatchObject({ error: expect.stringMatching(/\S/) });
      return (told as { error: string }).error;
    },
    async say(id, command, options) {
      const { exitCode, stdout, stderr } = await exec(id, command, options);
      expect(exitCode, stderr).toBe(0);
      return stdout.replace(/\n$/, '');
    },
  };
}
