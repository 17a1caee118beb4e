/** The bin as a shell finds it: what stands in the words of a command line is ours, not node's. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const home = await mkdtemp(join(tmpdir(), 'sbx-env-file-'));
afterAll(() => rm(home, { recursive: true, force: true }));

/** Runs the bin by its own first line. */
function sbx(...args: string[]) {
  const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, XDG_STATE_HOME: home };
  const { status, stdout, stderr } = spawnSync(join(root, 'bin/run.js'), args, { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('node does not read an --env-file of the command line', async () => {
  expect(sbx('exec', '--env-file', 'no-such-file', 'no-such-box', 'true')).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining('cannot read the env file "no-such-file"'),
  });
  // A word of the inner command, and of a path without a file.
  expect(sbx('exec', 'no-such-box', 'program', '--env-file=no-such-file')).toMatchObject({
    status: 125,
    stderr: expect.stringContaining("there is no sandbox 'no-such-box'"),
  });
  // Nor does the file become the environment of sbx itself.
  await writeFile(join(home, 'vars'), 'SBX_OUTPUT=bogus\n');
  expect(sbx('exec', 'no-such-box', 'program', '--env-file', join(home, 'vars'))).toMatchObject({
    status: 125,
  });
});
