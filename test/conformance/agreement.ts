/** The manifest and the fields that are there say the same. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';

export function agreementConformance(h: Harness): void {
  test('each capability of the manifest is a field, and each field a capability', async () => {
    const sandbox = await h.shared();
    const fields = [...present(h.backend().can), ...present(sandbox.can)];
    expect([...new Set(fields)].sort()).toEqual(Object.keys(h.manifest.capabilities).sort());
  });

  test('the opened backend has the manifest of its type', () => {
    expect(h.backend().manifest).toEqual(h.manifest);
  });

  test('snapshots are a field of the backend and of its sandboxes, or of neither', async () => {
    const { can } = await h.shared();
    expect(can.snapshots === undefined).toBe(h.backend().can.snapshots === undefined);
  });

  test('check says how things are without an error', async () => {
    const results = await h.backend().check(h.call);
    expect(results.length).toBeGreaterThan(0);
    for (const { name, status, detail } of results) {
      expect(name).not.toBe('');
      expect(detail).not.toBe('');
      expect(['ok', 'warning', 'failed']).toContain(status);
    }
    expect(results.filter(({ status }) => status === 'failed')).toEqual([]);
  });
}

function present(can: object): string[] {
  return Object.entries(can)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
}
