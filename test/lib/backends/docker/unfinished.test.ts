import { expect, test } from 'vitest';
import {
  isBeginning,
  nameUnfinished,
  START_LIMIT,
  unfinishedName,
} from '../../../../src/lib/backends/docker/unfinished.ts';

const seconds = Math.floor(Date.now() / 1000);

test('what another client makes at this moment is not taken for abandoned', () => {
  expect(isBeginning({ State: 'created', Created: seconds })).toBe(true);
  expect(isBeginning({ State: 'created', Created: seconds - START_LIMIT - 1 })).toBe(false);
  expect(isBeginning({ State: 'exited', Created: seconds })).toBe(false);
});

test('a name says that a container is on its way, and to where', () => {
  expect(unfinishedName(nameUnfinished('box', 'new', '0123abcd'))).toEqual({ name: 'box', kind: 'new' });
  expect(unfinishedName('box')).toBeUndefined();
});
