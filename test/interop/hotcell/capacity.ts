/** How much the machine can still take. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import type { SandboxRecord } from './shapes.ts';

export function capacityTopic(h: Harness): void {
  test('without a budget nothing is enforced', async () => {
    expect(await h.answer(200, 'GET /capacity')).toStrictEqual({ enforced: false });
  });

  h.when(h.has('admission'))('with one, what it does not allow is not made', () =>
    h.another({ memoryBudgetMb: 100 }, async (api) => {
      expect(await api.answer(200, 'GET /capacity')).toMatchObject({ enforced: true });
      const { id } = await api.answer<SandboxRecord>(201, 'POST /sandboxes', { memoryMb: 64 });
      expect(await api.refusal(503, 'POST /sandboxes', { memoryMb: 64 })).toMatch(/memory/i);
      // Many at once do not get what there is for one.
      const many = Array.from({ length: 4 }, () => api.ask('POST /sandboxes', { body: { memoryMb: 30 } }));
      expect((await Promise.all(many)).map(({ status }) => status).sort()).toEqual([201, 503, 503, 503]);
      expect(await api.answer(200, 'GET /sandboxes')).toMatchObject({ sandboxes: [{ id }, {}] });
      await api.answer(200, `DELETE /sandboxes/${id}`);
      await api.answer(201, 'POST /sandboxes', { memoryMb: 64 });
    }),
  );
}
