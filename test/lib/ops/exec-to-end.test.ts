import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Exit, Running } from '../../../src/lib/backend/contract.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { execToEnd } from '../../../src/lib/ops/exec-to-end.ts';

const call = { signal: new AbortController().signal };

function sandboxOf(running: Partial<Running>) {
  return {
    backend: 'fake',
    exec: async () =>
      ({ signal: async () => undefined, terminate: async () => undefined, ...running }) as Running,
  };
}

const spec = { argv: ['x'] as const };

describe('execToEnd', () => {
  it('gives all output before the exit', async () => {
    const seen: string[] = [];
    const exit = await execToEnd(
      sandboxOf({
        stdout: Readable.from([Buffer.from('out')]),
        stderr: Readable.from([Buffer.from('err')]),
        wait: async () => ({ code: 3 }),
      }),
      spec,
      { output: (data) => void seen.push(Buffer.from(data).toString()) },
      call,
    );
    expect(exit).toEqual({ code: 3 });
    expect(seen.sort()).toEqual(['err', 'out']);
  });

  it('ends the command on an interrupt, and calls it that whatever the backend makes of it', async () => {
    const controller = new AbortController();
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const ended: number[] = [];
    let fail: (error: Error) => void = () => undefined;
    const over = new Promise<Exit>((_done, reject) => {
      fail = reject;
    });
    const result = execToEnd(
      sandboxOf({
        stdout,
        stderr,
        wait: () => over,
        async terminate(graceMs) {
          ended.push(graceMs);
          stdout.end();
          stderr.end();
          fail(new SbxError('failed', 'cannot enter'));
        },
      }),
      spec,
      { output: () => controller.abort(new DOMException('stop', 'AbortError')) },
      { signal: controller.signal },
    );
    stdout.write('ready');
    await expect(result).rejects.toMatchObject({ name: 'AbortError' });
    expect(ended).toHaveLength(1);
  });

  it('does not fail because the command read only part of its input', async () => {
    const input = new PassThrough();
    input.destroy();
    const exit = await execToEnd(
      sandboxOf({
        stdin: input,
        stdout: Readable.from([]),
        stderr: Readable.from([]),
        wait: async () => ({ code: 1 }),
      }),
      spec,
      { stdin: Readable.from([Buffer.alloc(100_000)]), output: () => undefined },
      call,
    );
    expect(exit).toEqual({ code: 1 });
  });
});
