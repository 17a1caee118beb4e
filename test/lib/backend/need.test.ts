import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../src/lib/backend/manifest.ts';
import { type GivenOption, need, refuseIgnoredOptions } from '../../../src/lib/backend/need.ts';

const manifest = (createOptions: Manifest['createOptions']): Manifest => ({
  type: 'x',
  title: 'x',
  capabilities: {},
  createOptions,
  limits: {},
  config: [],
});

const memory: GivenOption = { option: 'limits.memory', as: '--size' };
const cpus: GivenOption = { option: 'limits.cpus', as: '--size' };
const labels: GivenOption = { option: 'labels', as: '--label' };

describe('need', () => {
  const sandbox = { id: 'x', name: 'box', backend: 'here', can: {}, info: never, exec: never };
  async function never(): Promise<never> {
    throw new Error('not asked for');
  }

  it('names the types that have what the backend lacks', () => {
    expect(() => need(sandbox, 'fork', () => ['there'])).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        message: "backend 'here' does not support fork",
        hint: 'backends that do: there',
      }),
    );
  });

  it('says why a sandbox cannot do what others of its backend can', () => {
    expect(() => need({ ...sandbox, limitation: 'it is small' }, 'fork', () => ['here'])).toThrow(
      expect.objectContaining({
        code: 'unsupported',
        message: "sandbox 'box' does not support fork: it is small",
      }),
    );
  });
});

describe('refuseIgnoredOptions', () => {
  it('takes limits for all of them and limits.memory for that one', () => {
    expect(() =>
      refuseIgnoredOptions(manifest(['limits', 'labels']), 'b', [memory, cpus, labels]),
    ).not.toThrow();
    expect(() => refuseIgnoredOptions(manifest(['limits.memory']), 'b', [memory])).not.toThrow();
    expect(() => refuseIgnoredOptions(manifest(['limits.memory']), 'b', [cpus])).toThrow(
      "backend 'b' (x) cannot honour --size",
    );
  });

  it('names each flag once, as it was typed', () => {
    expect(() => refuseIgnoredOptions(manifest([]), 'b', [memory, cpus, labels])).toThrow(
      /cannot honour --size, --label$/,
    );
    expect(() => refuseIgnoredOptions(manifest([]), 'b', [])).not.toThrow();
  });
});
