/** Signals reach the command and its group, and a signal that ends it is told as such. */
import { expect, test } from 'vitest';
import type { SignalName } from '../../src/lib/backend/contract.ts';
import { type Harness, run, sh, untilReady } from './harness.ts';

const ENDING: readonly SignalName[] = [
  'HUP',
  'INT',
  'QUIT',
  'KILL',
  'USR1',
  'USR2',
  'TERM',
  'ALRM',
  'PIPE',
  'ABRT',
  'SEGV',
];
const CATCHABLE: readonly SignalName[] = [
  ...ENDING.filter((name) => name !== 'KILL'),
  'WINCH',
  'CONT',
  'TSTP',
];

export function signalsConformance(h: Harness): void {
  test.each(ENDING)('%s ends a command that does not mind', async (name) => {
    // The command itself says that it is ready: busybox' shell ignores QUIT until it becomes the command.
    const text = 'ulimit -c 0; file=$(mktemp); echo ready > "$file"; exec tail -f "$file"';
    const { running } = await untilReady(await h.shared(), text);
    await running.signal(name);
    expect(await running.wait()).toEqual({ signal: name });
  });

  // The shell's `sleep` minds it, where a kernel stops it for ever.
  const catchable = CATCHABLE.filter((name) => name !== 'TSTP' || !h.lacks?.includes('orphaned groups'));
  test.each(catchable)('%s is caught by a command that wants it', async (name) => {
    const text = `trap 'echo caught; exit 7' ${name}; echo ready; while :; do sleep 0.05; done`;
    const { running, output } = await untilReady(await h.shared(), text);
    await running.signal(name);
    expect(await running.wait()).toEqual({ code: 7 });
    expect(output.text()).toBe('ready\ncaught\n');
  });

  test('STOP holds a command and CONT lets it go on', async () => {
    const text = "trap 'exit 7' CONT; echo ready; while :; do sleep 0.05; done";
    const { running } = await untilReady(await h.shared(), text);
    await running.signal('STOP');
    await running.signal('CONT');
    expect(await running.wait()).toEqual({ code: 7 });
  });

  test('a signal reaches the whole process group', async () => {
    const text = `
      sh -c 'trap "echo child; exit" USR1; echo up; while :; do sleep 0.05; done' &
      trap 'wait; echo parent; exit 3' USR1
      echo ready; while :; do sleep 0.05; done`;
    const { running, output } = await untilReady(await h.shared(), text);
    await output.until('up\n');
    await running.signal('USR1');
    expect(await running.wait()).toEqual({ code: 3 });
    expect(output.text()).toContain('child\nparent\n');
  });

  const tellsSignals = h.lacks?.includes('exit signals') !== true;
  h.when(tellsSignals)('a command that kills itself ends by that signal', async () => {
    const { exit } = await sh(await h.shared(), 'kill -TERM $$');
    expect(exit).toEqual({ signal: 'TERM' });
  });

  test('a signal to one command leaves the others alone', async () => {
    const sandbox = await h.shared();
    const one = await untilReady(sandbox, 'echo ready; exec sleep 1000');
    const other = await untilReady(sandbox, 'echo ready; cat; echo whole', { stdin: 'pipe' });
    await one.running.signal('INT');
    await one.running.wait();
    other.running.stdin?.end();
    expect(await other.running.wait()).toEqual({ code: 0 });
    expect(other.output.text()).toBe('ready\nwhole\n');
  });

  test('a signal to a command that has ended is no error', async () => {
    const sandbox = await h.shared();
    const running = await sandbox.exec({ argv: ['true'], stdin: 'none' }, h.call);
    running.stdout?.resume();
    running.stderr?.resume();
    await running.wait();
    await running.signal('TERM');
    await running.terminate(0);
    expect(await running.wait()).toEqual({ code: 0 });
  });

  const tellsMasks = h.lacks?.includes('signal masks') !== true;
  h.when(tellsMasks)('no signal is ignored or blocked when a command starts', async () => {
    const { stdout } = await run(await h.shared(), ['grep', '-E', '^Sig(Blk|Ign)', '/proc/self/status']);
    expect(stdout.toString()).toMatch(/^SigBlk:\t0+\nSigIgn:\t0+\n$/);
  });
}
