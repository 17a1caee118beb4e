import { expect, test } from 'vitest';
import { type ErrorCode, SbxError } from '../../../../src/lib/errors.ts';
import { failureOf, HttpRefusal } from '../../../../src/lib/server/http/refusal.ts';

test.each<[ErrorCode, number]>([
  ['usage', 400],
  ['auth', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['failed', 422],
  ['bug', 500],
  ['unsupported', 501],
  ['unreachable', 502],
  ['interrupted', 503],
  ['timeout', 504],
])('an error `%s` is %i, with its words', (code, status) => {
  expect(failureOf(new SbxError(code, 'why', { hint: 'do this' }))).toEqual({
    status,
    headers: {},
    body: { error: 'why', code, hint: 'do this' },
  });
  expect(failureOf(new SbxError(code, 'why')).body).not.toHaveProperty('hint');
});

test('a refusal is what it says', () => {
  expect(failureOf(new HttpRefusal(409, 'taken', { 'Retry-After': '1' }))).toEqual({
    status: 409,
    headers: { 'Retry-After': '1' },
    body: { error: 'taken' },
  });
});

test.each([new Error('secret path'), 'secret text', undefined])(
  'what nobody expected tells nothing',
  (error) => {
    const failure = failureOf(error);
    expect(failure).toEqual({ status: 500, headers: {}, body: { error: 'internal error', code: 'bug' } });
  },
);
