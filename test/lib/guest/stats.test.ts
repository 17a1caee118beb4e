import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import script from '../../../src/lib/guest/stats.sh';
import { parseStats } from '../../../src/lib/guest/stats.ts';

const now = new Date('2026-01-02T03:04:05Z');

it.each([
  ['dash', []],
  ['busybox', ['sh']],
] as const)('is printed by %s', (shell, args) => {
  const run = (scope: string) =>
    parseStats(execFileSync(shell, [...args, '-c', script, 'sbx-stats', scope], { encoding: 'utf8' }), now);
  const first = run('network');
  expect(first).toMatchObject({
    time: now.toISOString(),
    cpuMs: expect.any(Number),
    memory: expect.any(Number),
  });
  expect(first.memory).toBeGreaterThan(0);
  expect(first.memory).toBeLessThanOrEqual(first.memoryLimit ?? 0);
  expect(first.processes).toBeGreaterThan(1);
  expect(first.cpus).toBeGreaterThan(0);
  expect(run('none').networkRx).toBeUndefined();
});

it('skips what makes no sense', () => {
  const text =
    'cpu_us -5\nmemory 12x\nmemory_limit 1e9\npids 7\nrx 99999999999999999999999\n\u001b[31m\ntx 5';
  expect(parseStats(text, now)).toEqual({ time: now.toISOString(), processes: 7, networkTx: 5 });
});
