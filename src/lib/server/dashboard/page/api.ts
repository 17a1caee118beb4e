/** The server of this page, over HTTP. A refused key is asked for anew, and the request made again. */
import type { SessionInfo } from '../../../backend/contract-sessions.ts';
import type { SandboxRecord, Usage } from '../../record.ts';
import type { CreateBody } from '../../shapes.ts';
import type { Rates } from './cost.ts';
import { eventReader } from './event-text.ts';
import { Refused } from './failure.ts';
import { apiKey, askKey } from './key.ts';

export interface Info extends Rates {
  readonly driver: string;
  readonly drivers: readonly string[];
  readonly defaultImage: string;
  readonly auth: boolean;
}

/** What a sandbox takes at one moment. */
export interface Sample {
  readonly cpuPercent: number;
  readonly memBytes: number;
  /** 0: no limit. */
  readonly memLimitBytes?: number;
}

export interface Metrics {
  readonly status: SandboxRecord['status'];
  readonly live: Sample | null;
  readonly usage: Usage;
}

export interface FileEntry {
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

export interface ProcessEntry {
  readonly procId: string;
  readonly pid: number;
  readonly command: string;
  readonly status: 'running' | 'exited';
  readonly exitCode: number | null;
  readonly startedAt: string;
}

export type LogEvent = { readonly type: 'log'; readonly data: string } | { readonly type: 'end' };

export type { CreateBody, SandboxRecord, SessionInfo, Usage };

export const info = () => json<Info>('GET', 'info');

export async function sandboxes(): Promise<readonly SandboxRecord[]> {
  return (await json<{ sandboxes: SandboxRecord[] }>('GET', 'sandboxes')).sandboxes;
}

export const create = (body: CreateBody) => json<SandboxRecord>('POST', 'sandboxes', body);

export const change = (id: string, verb: 'start' | 'stop' | 'pause') =>
  json<SandboxRecord>('POST', `${at(id)}/${verb}`, {});

export const remove = (id: string) => json<unknown>('DELETE', at(id));

/** @param live whether to look at what runs now, which takes the server a moment. */
export const metrics = (id: string, live: boolean) =>
  json<Metrics>('GET', `${at(id)}/metrics?live=${live ? 1 : 0}`);

export async function history(id: string): Promise<readonly Sample[]> {
  return (await json<{ samples: Sample[] }>('GET', `${at(id)}/metrics/history`)).samples;
}

export async function files(id: string, path: string): Promise<readonly FileEntry[]> {
  return (await json<{ entries: FileEntry[] }>('POST', `${at(id)}/files/list`, { path })).entries;
}

/**
 * The bytes of a file: what is no text would not survive the JSON of files/read.
 * @returns undefined when there are more than `most`; some have no end.
 */
export async function readFile(id: string, path: string, most = Infinity): Promise<Blob | undefined> {
  const { body } = await request('GET', contentOf(id, path));
  const reader = body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    size += next.value.length;
    if (size > most) {
      await reader?.cancel();
      return undefined;
    }
    parts.push(next.value);
  }
  return new Blob(parts);
}

export async function writeFile(id: string, path: string, content: Blob): Promise<void> {
  await request('PUT', contentOf(id, path), { body: content });
}

export async function processes(id: string): Promise<readonly ProcessEntry[]> {
  return (await json<{ processes: ProcessEntry[] }>('GET', `${at(id)}/processes`)).processes;
}

export const startProcess = (id: string, command: string) =>
  json<ProcessEntry>('POST', `${at(id)}/processes`, { command });

export const endProcess = (id: string, procId: string) =>
  json<unknown>('DELETE', `${at(id)}/processes/${encodeURIComponent(procId)}`);

/** What a process has printed, and goes on to print, until it ends. */
export async function* logs(id: string, procId: string, signal: AbortSignal): AsyncGenerator<string> {
  const path = `${at(id)}/processes/${encodeURIComponent(procId)}/logs?follow=1`;
  const { body } = await request('GET', path, { signal });
  const read = eventReader<LogEvent>();
  const pieces = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await pieces?.read(); next?.done === false; next = await pieces?.read()) {
    for (const event of read(next.value)) if (event.type === 'log') yield event.data;
  }
}

/** Terminals that outlive their clients. */
export const sessions = (id: string) => call<readonly SessionInfo[]>(id, 'sessions.list', {});

export const startSession = (id: string, name: string, size: { cols: number; rows: number }) =>
  call<SessionInfo>(id, 'sessions.create', { name, size, term: 'xterm-256color' });

export const endSession = (id: string, name: string) => call<null>(id, 'sessions.kill', { name });

/** Where a WebSocket gets a terminal. The key is part of it: there are no headers for pages to set. */
export function terminalUrl(id: string, size: { cols: number; rows: number }, session?: string): URL {
  const url = new URL(`${at(id)}/terminal`, document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('cols', String(size.cols));
  url.searchParams.set('rows', String(size.rows));
  if (session !== undefined) url.searchParams.set('session', session);
  const key = apiKey();
  if (key !== undefined) url.searchParams.set('key', key);
  return url;
}

const at = (id: string) => `sandboxes/${encodeURIComponent(id)}`;
const contentOf = (id: string, path: string) => `${at(id)}/content?${new URLSearchParams({ path })}`;

async function call<Value>(id: string, name: string, args: object): Promise<Value> {
  return (await json<{ value: Value }>('POST', `${at(id)}/calls/${name}`, args)).value;
}

async function json<Value>(method: string, path: string, body?: object): Promise<Value> {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await request(method, path, init)).json() as Promise<Value>;
}

async function request(method: string, path: string, init: RequestInit = {}): Promise<Response> {
  const key = apiKey();
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const response = await fetch(new URL(path, document.baseURI), {
    ...init,
    method,
    headers,
    cache: 'no-store',
  });
  if (response.ok) return response;
  if (response.status === 401) {
    // Another may have been given since.
    if (apiKey() === key) await askKey();
    return request(method, path, init);
  }
  throw new Refused(response.status, await reasonOf(response));
}

async function reasonOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { error, hint } = JSON.parse(text) as { error: string; hint?: string };
    return hint === undefined ? error : `${error} (${hint})`;
  } catch {
    return `${response.status} ${response.statusText}`;
  }
}
