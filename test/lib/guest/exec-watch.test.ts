import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import watch from '../../../src/lib/guest/exec-watch.sh';

const SHELLS = [
  ['dash', []],
  ['busybox', ['sh']],
] as const;

describe.each(SHELLS)('exec-watch.sh in %s', (shell, words) => {
  let command: ReturnType<typeof spawn>;
  beforeEach(async () => {
    // Leader of a group of its own.
    command = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    await once(command, 'spawn');
  });
  afterEach(() => command.kill('SIGKILL'));

  /** Passes `lines` on to the command; @returns how often something was sent to it. */
  const sent = (lines: string) => {
    const text = `kill() { echo "$@"; command kill "$@"; }\n${watch}\nsbx_self=$1; exec 3<&0; sbx_watch`;
    const argv = [...words, '-c', text, 'sh', String(command.pid)];
    const { stdout } = spawnSync(shell, argv, { input: lines, encoding: 'utf8' });
    return stdout.split('\n').length - 1;
  };

  it.each(['INT', 'USR1', 'TERM'])('%s is not caught twice by a command that catches it', async (name) => {
    const ended = once(command, 'exit');
    expect(sent(`${name}\nend\n`)).toBe(1);
    expect(await ended).toEqual([null, `SIG${name}`]);
  });
});
