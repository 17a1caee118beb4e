/** A server of ours over the local backend, and a browser that looks at its dashboard. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import type { SandboxRecord } from '../../src/lib/server/record.ts';
import { serve } from '../../src/lib/server/serve.ts';
import { testSettings } from '../conformance/serving.ts';

/** Debian's. */
export const CHROMIUM = '/usr/bin/chromium';
export const hasChromium = existsSync(CHROMIUM);

/** The key that the server asks for. */
export const KEY = testSettings.apiKey ?? '';

export interface Dashboard {
  readonly url: string;
  /** Whatever a page complained of since this was last asked: failures, refused requests, breaches of the policy. */
  complaints(): string[];
  /** Opens the dashboard in a browser of its own. @param key given to it; undefined: it asks for one. */
  open(options?: BrowserContextOptions & { readonly key?: string | undefined }): Promise<Page>;
  /** Asks the server itself. */
  ask<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  /** Makes a sandbox without the page. */
  sandbox(body?: object): Promise<SandboxRecord>;
  /** What a command prints in a sandbox. */
  run(id: string, command: string): Promise<string>;
  close(): Promise<void>;
}

export async function startDashboard(): Promise<Dashboard> {
  const folder = await mkdtemp(join(tmpdir(), 'sbx-dashboard-'));
  const local = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state: folder } });
  const server = await serve({
    settings: testSettings,
    backends: { get: async () => local, having: () => [] },
    folder: join(folder, 'serve'),
    now: () => new Date(),
    notice: (line) => process.stderr.write(`${line}\n`),
    log: () => undefined,
  });
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    // Its sandbox is made of what a container has not; it sees our own pages alone.
    args: ['--no-sandbox'],
    env: { ...process.env, HOME: folder },
  });
  let complaints: string[] = [];
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  };
  return {
    url: server.url,
    complaints() {
      const all = complaints;
      complaints = [];
      return all;
    },
    async open({ key, ...options } = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      if (key !== undefined)
        await page.addInitScript(`sessionStorage.setItem('sbx-api-key', ${JSON.stringify(key)})`);
      await page.goto(server.url);
      return page;
    },
    ask: async <Answer>(method: string, path: string, body?: object) =>
      (await ask(method, path, body)).json() as Promise<Answer>,
    sandbox: async (body = {}) => (await ask('POST', '/sandboxes', body)).json() as Promise<SandboxRecord>,
    async run(id, command) {
      const text = await (await ask('POST', `/sandboxes/${id}/exec`, { command })).text();
      const events = text.split('\n\n').filter((each) => each.startsWith('data: '));
      return events
        .map((each) => JSON.parse(each.slice('data: '.length)) as { type: string; data?: string })
        .map(({ type, data }) => (type === 'stdout' ? (data ?? '') : ''))
        .join('');
    },
    async close() {
      await browser.close();
      const { sandboxes } = (await (await ask('GET', '/sandboxes')).json()) as { sandboxes: SandboxRecord[] };
      await Promise.all(sandboxes.map(({ id }) => ask('DELETE', `/sandboxes/${id}`)));
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
