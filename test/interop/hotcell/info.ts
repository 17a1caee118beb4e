/** What a server says of itself. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import type { Info } from './shapes.ts';

export function infoTopic(h: Harness): void {
  test('healthz names the driver', async () => {
    const { driver } = await h.answer<Info>(200, 'GET /info');
    expect(await h.answer(200, 'GET /healthz')).toStrictEqual({ ok: true, driver });
  });

  test('info has these fields and nothing of the key', async () => {
    const number = expect.any(Number);
    const info = await h.answer<Info>(200, 'GET /info');
    const fields = {
      driver: expect.stringMatching(/^\S+$/),
      drivers: expect.any(Array),
      defaultImage: expect.any(String),
      proxyPort: number,
      costCpuPerHour: number,
      costMemGbPerHour: number,
      costEgressPerGb: number,
      defaultSleepAfterMs: number,
      auth: true,
      otlp: expect.any(Boolean),
      egressPort: number,
      egressProviders: expect.any(Array),
      defaultMemoryMb: number,
      defaultCpus: number,
      defaultPidsLimit: number,
    };
    // A server that can do more says so here.
    if (h.strict) expect(info).toMatchObject(fields);
    else expect(info).toStrictEqual(fields);
    expect(info.drivers).toContain(info.driver);
    for (const name of [...info.drivers, ...info.egressProviders]) expect(name).toEqual(expect.any(String));
    expect(JSON.stringify(info)).not.toContain(h.server().key);
  });

  test.each(['GET /', 'GET /dashboard'] as const)('%s is a page', async (target) => {
    const { status, headers, text } = await h.ask(target, { headers: {} });
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toMatch(/^<!doctype html>/i);
    expect(text).not.toContain(h.server().key);
    if (h.strict) expect(headers['content-security-policy']).toMatch(/default-src 'none'|script-src 'self'/);
  });

  test('queries change nothing about what is asked', async () => {
    const info = await h.answer(200, 'GET /info');
    expect(await h.answer(200, 'GET /info?a=b&c')).toEqual(info);
  });
}
