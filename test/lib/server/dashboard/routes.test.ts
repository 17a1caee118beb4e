/** The dashboard as a client without a browser gets it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PARTS } from '../../../../src/lib/server/dashboard/assets.ts';
import { safeHeaders } from '../../../../src/lib/server/dashboard/policy.ts';
import { type Serving, serve } from '../../../../src/lib/server/serve.ts';
import { testSettings } from '../../../conformance/serving.ts';

let folder: string;
let server: Serving;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sbx-dashboard-'));
  server = await serve({
    settings: testSettings,
    backends: { get: () => Promise.reject(new Error('the dashboard needs no backend')), having: () => [] },
    folder,
    now: () => new Date(),
    notice: (line) => process.stderr.write(`${line}\n`),
    log: () => undefined,
  });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}${path}`, { headers });

test.each(['/', '/dashboard'])('%s is the page, for everybody', async (path) => {
  const response = await get(path);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await response.text()).toMatch(/^<!doctype html>/i);
});

test('the page asks for files of this server alone, and has nothing inline that the policy would stop', async () => {
  const html = await (await get('/')).text();
  const named = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(3);
  for (const name of named) expect(Object.keys(PARTS).map((part) => `dashboard/${part}`)).toContain(name);
  expect(html).not.toMatch(/<style|<script(?![^>]*src=)|\son\w+=|style=/);
});

test.each(Object.entries(PARTS))('%s is %s, for everybody', async (name, type) => {
  const response = await get(`/dashboard/${name}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  expect((await response.text()).length).toBeGreaterThan(100);
});

test('no other file is there', async () => {
  const authorization = `Bearer ${testSettings.apiKey}`;
  for (const name of ['main.ts', 'index.html', '..%2fpackage.json', 'constructor'])
    expect((await get(`/dashboard/${name}`, { authorization })).status).toBe(404);
});

test('every file comes with the policy, and in no frame', async () => {
  for (const path of ['/', '/dashboard', ...Object.keys(PARTS).map((name) => `/dashboard/${name}`)]) {
    const { headers } = await get(path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|\*|https:|data:|blob:/);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
    });
  }
});

test('WebSockets go to the host of the page, and what a client calls it cannot add to the policy', () => {
  const socketsOf = (host: string) =>
    /connect-src ([^;]*);/.exec(safeHeaders({ headers: { host } })['Content-Security-Policy'] ?? '')?.[1];
  expect(socketsOf('box.example:4750')).toBe("'self' ws://box.example:4750 wss://box.example:4750");
  expect(socketsOf('[::1]:4750')).toBe("'self' ws://[::1]:4750 wss://[::1]:4750");
  for (const host of ['', '*', 'a b', 'a; script-src *', 'a,b', 'a/b', "a'"])
    expect(socketsOf(host), host).toBe("'self'");
});

test('a file that the client has is not sent again', async () => {
  const etag = (await get('/dashboard/page.js')).headers.get('etag') ?? '';
  const again = await get('/dashboard/page.js', { 'if-none-match': etag });
  expect([again.status, await again.text()]).toEqual([304, '']);
  expect((await get('/dashboard/page.css', { 'if-none-match': etag })).status).toBe(200);
});
