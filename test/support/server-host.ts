/** Built servers for one file of tests: their state folders, and the end of everything. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { type BuiltServer, type BuiltServerOptions, bin, builtServer } from './built-server.ts';
import { requireOrSkip } from './require.ts';

export interface ServerHost {
  /** A path that is not there yet. */
  newFolder(what: string): string;
  /** A new state folder for servers, whose sandboxes are removed at the end of the file. */
  newState(): string;
  /** Starts a server that ends with the test. */
  start(state: string, options?: BuiltServerOptions): Promise<BuiltServer>;
  /** Runs sbx on the server's own machine. @returns its stdout */
  locally(state: string, ...args: readonly string[]): string;
}

/** `test`, where there is a built sbx. */
export const builtTest = requireOrSkip(existsSync(join(bin, '../../dist/run.js')), 'a built sbx');

export function serverHost(): ServerHost {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-servers-'));
  const states: string[] = [];
  const started: BuiltServer[] = [];
  let count = 0;
  const newFolder = (what: string) => join(folder, `${what}-${count++}`);
  const locally = (state: string, ...args: readonly string[]) =>
    execFileSync(process.execPath, [bin, ...args], {
      env: { ...process.env, SBX_STATE_DIR: state, SBX_CONFIG_DIR: `${state}/config` },
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    });
  afterEach(async () => {
    for (const server of started.splice(0)) {
      server.kill('SIGKILL');
      await server.ended;
    }
  });
  afterAll(() => {
    for (const state of states) locally(state, 'rm', '--all', '--force', '--yes');
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    newFolder,
    newState() {
      const state = newFolder('server');
      states.push(state);
      return state;
    },
    async start(state, options) {
      const server = await builtServer(state, options);
      started.push(server);
      return server;
    },
    locally,
  };
}

/** The JSON of an answer that must have this status. */
export async function answer<T = Readonly<Record<string, unknown>>>(
  asked: Promise<Response>,
  status = 200,
): Promise<T> {
  const response = await asked;
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return JSON.parse(text) as T;
}

/** A new sandbox; its id. */
export async function madeOn(server: BuiltServer, body: object = {}): Promise<string> {
  return (await answer<{ readonly id: string }>(server.ask('POST', '/sandboxes', body), 201)).id;
}

/** What a command in a sandbox prints. */
export async function say(server: BuiltServer, id: string, command: string): Promise<string> {
  const response = await server.ask('POST', `/sandboxes/${id}/exec`, { command });
  return printed(await response.text());
}

/** The stdout in a stream of events. */
export function printed(events: string): string {
  return eventsOf(events)
    .flatMap(({ type, data }) => (type === 'stdout' ? [data] : []))
    .join('');
}

/** The events of a stream, without its comments. */
export function eventsOf(text: string): Readonly<Record<string, unknown>>[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Readonly<Record<string, unknown>>);
}
