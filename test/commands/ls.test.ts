import { afterAll, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import Ls from '../../src/commands/ls.ts';
import Stop from '../../src/commands/stop.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { type CommandLine, commandLine, unreachableBackend } from '../support/command-line.ts';

const lines: CommandLine[] = [];
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
});

async function lineWith(
  names: readonly string[],
  more: Parameters<typeof commandLine>[0]['backends'] = [],
): Promise<CommandLine> {
  const line = commandLine({ commands: { ls: Ls, create: Create, stop: Stop }, backends: more });
  lines.push(line);
  for (const name of names) await line.run(['create', name, '-l', `first=${name[0]}`, '-l', 'all']);
  return line;
}

describe('sbx ls', () => {
  it('prints a header alone when there is nothing, and an empty list as JSON', async () => {
    const line = await lineWith([]);
    expect(await line.run(['ls'])).toEqual({
      exit: 0,
      stdout: 'NAME  BACKEND  STATE  AGE  IMAGE  PORTS\n',
      stderr: '',
    });
    expect(await line.run(['ls', '--json'])).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
    expect(await line.run(['ls', '-q'])).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  it('lists those that run, and the others with --all or --state', async () => {
    const line = await lineWith(['on', 'off']);
    await line.run(['stop', 'off']);
    const table = await line.run(['list']);
    expect(table.stdout).toMatch(
      /^NAME {2}BACKEND {2}STATE {4}AGE {2}IMAGE {2}PORTS\non {4}memory {3}running {2}\d+s {3}- {6}-\n$/,
    );
    expect((await line.run(['ls', '--all', '-q'])).stdout.trim().split('\n').sort()).toEqual(['off', 'on']);
    expect((await line.run(['ls', '--state', 'stopped', '-q'])).stdout).toBe('off\n');
    expect(await line.run(['ls', '--state', 'asleep'])).toMatchObject({ exit: 2 });
  });

  it('filters by labels, all of which must match', async () => {
    const line = await lineWith(['apple', 'anchor', 'birch']);
    const named = async (...argv: string[]) =>
      (await line.run(['ls', '-q', ...argv])).stdout.split('\n').filter(Boolean).sort();
    expect(await named('-l', 'first=a')).toEqual(['anchor', 'apple']);
    expect(await named('-l', 'all', '-l', 'first=b')).toEqual(['birch']);
    expect(await named('-l', 'none')).toEqual([]);
  });

  it('shows the newest first', async () => {
    const line = await lineWith([]);
    for (const name of ['x', 'y', 'z']) {
      await line.run(['create', name]);
      const made = Date.now();
      while (Date.now() === made) await new Promise((done) => setImmediate(done));
    }
    expect((await line.run(['ls', '-q'])).stdout).toBe('z\ny\nx\n');
  });

  it('lists the others when a backend does not answer: a warning, and exit 6', async () => {
    const line = await lineWith(['box'], [unreachableBackend('far')]);
    const result = await line.run(['ls', '-q']);
    expect(result).toEqual({
      exit: 6,
      stdout: 'box\n',
      stderr: "warning: backend 'far' is missing from the list: backend 'far' does not answer\n",
    });
    expect(await line.run(['ls', '-b', 'memory', '-q'])).toEqual({ exit: 0, stdout: 'box\n', stderr: '' });
    expect(await line.run(['ls', '-b', 'far'])).toEqual({
      exit: 6,
      stdout: '',
      stderr: "error: backend 'far' does not answer\n",
    });
    expect(await line.run(['ls', '-b', 'nowhere'])).toMatchObject({ exit: 3, stdout: '' });
  });

  it('prints an object a line with --watch --json, again when something changed, until it is interrupted', async () => {
    const line = await lineWith(['box']);
    const signals = new SignalHub();
    const result = await line.run(['ls', '--watch', '--json'], {
      signals,
      watch({ stdout }) {
        const write = stdout.write.bind(stdout);
        stdout.write = (data) => {
          write(data);
          const seen = stdout.text.split('\n').length - 1;
          if (seen === 1) void line.run(['create', 'other']);
          if (seen === 2) signals.deliver('SIGINT');
        };
      },
    });
    const found = result.stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text));
    expect(found.map(({ sandboxes }) => sandboxes.map(({ name }: { name: string }) => name).sort())).toEqual([
      ['box'],
      ['box', 'other'],
    ]);
    expect(found[0].time).toMatch(/^\d{4}-.*Z$/);
  }, 20_000);
});
