import { expect, test } from 'vitest';
import { volumesOf } from '../../../../src/lib/backends/docker/volumes.ts';

test('a fork on Podman does not get the folder that its original shares, and serves none of its requests', () => {
  const pipes = '/state/docker/0123456789ab/pipes:/var/lib/sbx/exec/pipes:ro,rprivate,rbind';
  expect(volumesOf([pipes, 'data:/data', '/srv:/srv:ro'])).toEqual([
    { source: 'data', target: '/data', readOnly: false },
    { source: '/srv', target: '/srv', readOnly: true },
  ]);
});
