/** The program that runs a command for a client that gets text alone, with this machine's sh in the place of a server. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { commandOf, leaseOf, type Program } from '../../../src/lib/backends/daemon/plain/program.ts';
import { randomHex } from '../../../src/lib/util/random-id.ts';

/** Runs a program to its end, and gives what it printed. */
async function run({ command, env }: Program): Promise<string> {
  const child = spawn('/bin/sh', ['-c', command], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return await text(child.stdout);
}

test('a command whose client says nothing any more ends, and leaves nothing', async () => {
  const mark = randomHex(8);
  const said = await run(commandOf(mark, { argv: ['sleep', '1000'], stdin: 'pipe' }, 1));
  expect(said).toContain(`sbx:${mark}:exit 143`);
  expect(existsSync(`/tmp/sbx-exec-${mark}`)).toBe(false);
});

test('one whose client says that it is there goes on', async () => {
  const mark = randomHex(8);
  const lease = leaseOf(mark).command;
  const argv = ['/bin/sh', '-c', `for i in 1 2 3 4 5 6; do ${lease}; sleep 0.5; done; exit 3`] as const;
  expect(await run(commandOf(mark, { argv, stdin: 'none' }, 2))).toContain(`sbx:${mark}:exit 3`);
});

test('variables are no arguments, and none of ours is the command’s', async () => {
  const mark = randomHex(8);
  const program = commandOf(mark, { argv: ['env'], env: { SECRET: 'of-mine' }, stdin: 'none' });
  expect(program.command).not.toContain('of-mine');
  const lines = (await run(program)).split('\n').filter((line) => !line.includes(':'));
  const printed = Buffer.concat(lines.map((line) => Buffer.from(line, 'base64'))).toString();
  expect(printed).toContain('SECRET=of-mine\n');
  expect(printed.match(/^SBX_.*=/gm)).toEqual(['SBX_EXEC_ID=']);
});
