/** Progress on a real terminal: what stands on the screen while something takes long, and afterwards. */
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uniqueSleep } from '../conformance/harness.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';
import { createWorld, type World } from './world.ts';

const CTRL_C = '\u0003';

let world: World;
beforeAll(() => {
  world = createWorld();
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** The rows with something on them. */
const rows = (terminal: Terminal) => terminal.screen().filter((row) => row !== '');

/** The process of this machine whose arguments end with `sleep SECONDS`. */
function sleeper(seconds: string): number {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`;
    } catch {
      return false;
    }
  });
  if (found === undefined) throw new Error(`no process sleeps ${seconds}`);
  return Number(found);
}

test('a setup command is one line with the last that it printed, and only the time stays', async () => {
  const time = uniqueSleep();
  const setup = `echo begun; echo wor""king; sleep ${time} || true`;
  await using terminal = world.open(['create', 'box', '--setup', setup], { cols: 100 });
  await terminal.waitFor(/^\S \d+s setup: .*: working$/m);
  expect(rows(terminal)).toHaveLength(1);
  process.kill(sleeper(time), 'SIGTERM');
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  expect(rows(terminal)).toEqual([expect.stringMatching(/^created 'box' in \d+\.\ds$/), 'box']);
});

test('a narrower window keeps it one line, and nothing of it stays', async () => {
  const time = uniqueSleep();
  const setup = `echo wor""king; sleep ${time} || true`;
  await using terminal = world.open(['create', 'narrow', '--setup', setup], { cols: 100 });
  await terminal.waitFor(/: working$/m);
  terminal.resize(30, 24);
  await terminal.waitFor((screen) => /^\S \d+s setup: .*…$/m.test(screen) && !screen.includes('working'));
  process.kill(sleeper(time), 'SIGTERM');
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  expect(rows(terminal)).toEqual([expect.stringMatching(/^created 'narrow' in/), 'narrow']);
});

test('Ctrl-C leaves no line behind, and no sandbox', async () => {
  await using terminal = world.open(['create', 'gone', '--setup', 'echo wor""king; sleep 300'], {
    cols: 100,
  });
  await terminal.waitFor(/: working$/m);
  terminal.type(CTRL_C);
  expect(await terminal.ended).toMatchObject({ exitCode: 130 });
  expect(rows(terminal)).toEqual([]);
  expect(await world.sbx('ls', '--all', '-q')).not.toContain('gone');
});

test('a setup command that fails is named after the end of its output', async () => {
  const setup = 'for i in 1 2 3; do echo "line $i"; done; echo "why \\033[31mred" >&2; exit 7';
  await using terminal = world.open(['create', 'failing', '--setup', setup], { cols: 200 });
  expect(await terminal.ended).toMatchObject({ exitCode: 1 });
  const shown = rows(terminal);
  for (const line of ['line 1', 'line 2', 'line 3']) expect(shown).toContain(line);
  expect(shown.at(-1)).toMatch(
    /^error: the setup command ".*" ended with exit code 7; the sandbox was removed again$/,
  );
  expect(shown.join('\n')).not.toMatch(/^\S \d+s /m);
});

test('the command of run has the terminal to itself', async () => {
  const time = uniqueSleep();
  const argv = ['run', '--setup', `echo wor""king; sleep ${time} || true`, '--', 'echo', 'out'];
  await using terminal = world.open(argv, { cols: 100 });
  await terminal.waitFor(/: working$/m);
  process.kill(sleeper(time), 'SIGTERM');
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  expect(rows(terminal)).toEqual(['out']);
});

test.each([['CI=1'], ['TERM=dumb']])('with %s there are plain lines, and no escape code', async (setting) => {
  const name = setting.replace('=', '-');
  const argv = ['create', name, '--setup', 'echo working'];
  await using terminal = openTerminal(['env', setting, 'sbx', ...argv], { env: world.env, cols: 100 });
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  expect(terminal.printed).not.toContain('\u001b');
  // Steps that took long on a slow machine may stand before, and the time it took after.
  expect(terminal.screen().join('\n')).toMatch(
    new RegExp(`setup: echo working\nworking\n(created '${name}' in \\S+\n)?${name}\n`),
  );
});

test('a copy counts files and bytes, and Ctrl-C takes the line away', async () => {
  await world.sbx('create', 'copies');
  const file = join(world.folder, 'big');
  writeFileSync(file, '');
  truncateSync(file, 64 * 1024 ** 3);
  await using terminal = world.open(['cp', file, 'copies:/tmp'], { cols: 100 });
  await terminal.waitFor(/^\S \d+s copying, 1 file, [\d.]+[MG], [\d.]+[MG]\/s$/m);
  terminal.type(CTRL_C);
  expect(await terminal.ended).toMatchObject({ exitCode: 130 });
  expect(rows(terminal)).toEqual([]);
});
