/** A request arrives in a shell as it was meant. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { requestText } from '../../../../src/lib/backends/docker/exec-request.ts';
import { requireOrSkip } from '../../../support/require.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-request-'));
const file = join(folder, 'request');
afterAll(() => rmSync(folder, { recursive: true }));

const MARK = '0123456789abcdef';
const SHELLS = [['/bin/sh'], ['busybox', 'sh']];
const word = fc.string({ unit: 'binary', maxLength: 20 }).filter((text) => !text.includes('\0'));

describe.each(SHELLS)('%s', (program, ...first) => {
  const shells = requireOrSkip(spawnSync(program, [...first, '-c', ':']).status === 0, program);

  shells('every word, and every value of a variable', () => {
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 4 }), word, (workdir, args, value) => {
        const spec = { argv: ['cmd', ...args], env: { A_1: value, b: '' }, workdir, stdin: 'none' } as const;
        writeFileSync(file, requestText(MARK, { ...spec, argv: ['cmd', ...args] }) ?? '');
        const show = `. ${file}; printf '%s\\0' "$SBX_MARK" "$SBX_INPUT" "$SBX_LATE" "$SBX_LATE_A_1" "$SBX_LATE_b" "$@"`;
        const shown = execFileSync(program, [...first, '-c', show], { encoding: 'utf8' });
        expect(shown.split('\0').slice(0, -1)).toEqual([
          MARK,
          'none',
          'A_1 b',
          value,
          '',
          workdir,
          ...spec.argv,
        ]);
      }),
      { numRuns: 60 },
    );
  });
});

test.each([
  { argv: ['echo', 'a\0b'], env: {} },
  { argv: ['true'], env: { 'A;touch /tmp/x': '1' } },
  { argv: ['true'], env: { A: 'x\0' } },
] as const)('what a shell cannot be told is no request: %j', (spec) => {
  expect(requestText(MARK, { ...spec, workdir: '/', stdin: 'none' })).toBeUndefined();
});
