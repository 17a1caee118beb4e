import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import Type from 'typebox';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { checker, parseJson, readBody } from '../../../../src/lib/server/http/body.ts';

describe('reading', () => {
  const request = (parts: readonly string[], headers: IncomingHttpHeaders = {}) =>
    Object.assign(Readable.from(parts.map((part) => Buffer.from(part))), {
      headers,
    }) as unknown as IncomingMessage;
  const slow = () =>
    Object.assign(new Readable({ read: () => undefined }), { headers: {} }) as unknown as IncomingMessage;
  const tooLarge = { status: 413, message: 'request body too large' };

  test('all of it, up to the cap', async () => {
    expect((await readBody(request(['ab', 'c']), 3)).toString()).toBe('abc');
    expect((await readBody(request([]), 3)).toString()).toBe('');
  });

  test('no more than the cap, whatever it says of its length', async () => {
    await expect(readBody(request(['ab', 'cd']), 3)).rejects.toMatchObject(tooLarge);
    await expect(readBody(request(['abcd'], { 'content-length': '1' }), 3)).rejects.toMatchObject(tooLarge);
  });

  test('nothing of one that says it is too long', async () => {
    const announced = request(['a'], { 'content-length': '4' });
    await expect(readBody(announced, 3)).rejects.toMatchObject(tooLarge);
    expect(announced.read()).toEqual(Buffer.from('a'));
  });

  test('a client that goes in the middle is a failure', async () => {
    const cut = slow();
    const reading = readBody(cut, 3);
    cut.push('a');
    cut.destroy();
    await expect(reading).rejects.toMatchObject({ status: 400, message: 'the body was cut off' });
  });

  describe('with time passing', () => {
    const tooSlow = { status: 408 };
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test('a client that stops in the middle is refused', async () => {
      const body = slow();
      const reading = readBody(body, 100);
      const refusal = expect(reading).rejects.toMatchObject(tooSlow);
      body.push('a');
      await vi.advanceTimersByTimeAsync(31_000);
      await refusal;
      expect(body.destroyed).toBe(false);
    });

    test('so is one that sends a byte now and then, and one that sends steadily is not', async () => {
      const dribbling = slow();
      const steady = slow();
      const refusal = expect(readBody(dribbling, 100)).rejects.toMatchObject(tooSlow);
      const whole = readBody(steady, 1e6);
      for (let second = 0; second < 60; second++) {
        dribbling.push('a');
        steady.push('a'.repeat(2000));
        await vi.advanceTimersByTimeAsync(1000);
      }
      await refusal;
      steady.push(null);
      expect((await whole).length).toBe(120_000);
    });
  });
});

describe('JSON', () => {
  test('an object, or nothing', () => {
    expect(parseJson(Buffer.from('{"a":[1]}'))).toEqual({ a: [1] });
    expect(parseJson(Buffer.from(''))).toEqual({});
  });

  test.each(['{', '[]', '"text"', '7', 'null', 'true', '{"a":1}}', ' '])('%j is 400', (text) => {
    expect(() => parseJson(Buffer.from(text))).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('the shape', () => {
  const check = checker(
    Type.Object({
      code: Type.String({ refusal: 'code is required' }),
      count: Type.Optional(Type.Integer({ minimum: 1 })),
      inner: Type.Optional(Type.Object({ flag: Type.Boolean() }, { refusal: 'inner must have a flag' })),
    }),
  );
  const refusal = (value: unknown) => {
    try {
      check(value, 'the body');
    } catch (error) {
      return error;
    }
    throw new Error('it was let through');
  };

  test('what fits is let through, with fields that nobody knows', () => {
    expect(() => check({ code: '', count: 1, inner: { flag: true }, more: 5 }, 'the body')).not.toThrow();
  });

  test('a field that has words for it is refused by them, missing or wrong', () => {
    for (const value of [{}, { code: 5 }, { code: null }])
      expect(refusal(value)).toMatchObject({ status: 400, message: 'code is required' });
    for (const inner of [5, {}, { flag: 'x' }])
      expect(refusal({ code: '', inner })).toMatchObject({ status: 400, message: 'inner must have a flag' });
  });

  test('another is named', () => {
    expect(refusal({ code: '', count: 0 })).toMatchObject({ status: 400, message: 'count must be >= 1' });
    expect(refusal([])).toMatchObject({ status: 400, message: expect.stringMatching(/^the body /) });
  });
});
