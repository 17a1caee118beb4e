import { expect, test } from 'vitest';
import { openCapacity } from '../../../src/lib/server/capacity.ts';
import type { RecordStatus, SandboxRecord } from '../../../src/lib/server/record.ts';

const rowsOf = (...all: (readonly [RecordStatus, number | undefined])[]) => ({
  list: () => all.map(([status, memoryMb]) => ({ status, limits: { memoryMb } }) as SandboxRecord),
});

test('what runs or is paused counts, what is stopped or has vanished does not', () => {
  const rows = rowsOf(
    ['running', 10],
    ['paused', 20],
    ['stopped', 40],
    ['vanished', 80],
    ['running', undefined],
  );
  expect(openCapacity(rows, { memoryBudgetMb: 100 }).state()).toEqual({
    enforced: true,
    budgetMb: 100,
    promisedMb: 30,
    freeMb: 70,
  });
});

test('memory is set aside until it is let go', () => {
  const capacity = openCapacity(rowsOf(), { memoryBudgetMb: 100 });
  {
    using _ = capacity.promise(60);
    expect(() => capacity.promise(41)).toThrow(
      expect.objectContaining({
        status: 503,
        message: 'not enough memory: 41 MB asked for, 40 MB left of 100 MB (60 MB promised)',
      }),
    );
    using _more = capacity.promise(40);
    expect(capacity.state()?.freeMb).toBe(0);
  }
  expect(capacity.state()?.promisedMb).toBe(0);
});

test('one without a limit cannot be promised anything', () => {
  const capacity = openCapacity(rowsOf(), { memoryBudgetMb: 100 });
  expect(() => capacity.promise(undefined)).toThrow(expect.objectContaining({ status: 400 }));
});

test('a budget that was lowered below what is promised leaves nothing, and no less', () => {
  const capacity = openCapacity(rowsOf(['running', 200]), { memoryBudgetMb: 100 });
  expect(capacity.state()?.freeMb).toBe(0);
});

test('without a budget everything is let through', () => {
  const capacity = openCapacity(rowsOf(['running', 10]), { memoryBudgetMb: 0 });
  expect(capacity.state()).toBeUndefined();
  using _ = capacity.promise(undefined);
});
