import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../src/lib/backend/manifest.ts';
import { type GivenOption, refuseIgnoredOptions } from '../../../src/lib/backend/need.ts';

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
