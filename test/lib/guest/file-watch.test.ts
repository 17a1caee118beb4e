import { expect, test } from 'vitest';
import { snapshotEvents } from '../../../src/lib/guest/file-watch.ts';

test('a watch that looks has begun after its first look, before anything has changed', async () => {
  const looked: string[] = [];
  const rounds = async function* () {
    yield Buffer.from('0\n');
    yield Buffer.from('0\n');
    looked.push('twice');
  };
  for await (const event of snapshotEvents(rounds(), () => looked.push('begun'))) expect(event).toBe('none');
  expect(looked).toEqual(['begun', 'twice']);
});
