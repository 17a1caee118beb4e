/** Full screens on a real terminal: the built program, real sandboxes and sessions, asserted on the screen. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireOrSkip } from '../support/require.ts';
import { openTerminal, type Terminal, type TerminalOptions } from '../support/terminal.ts';
import { childOf, createWorld, type World } from './world.ts';

const hasDtach = spawnSync('dtach', ['--version'], { stdio: 'ignore' }).error === undefined;
const inSessions = requireOrSkip(hasDtach, 'dtach');

const LEAVE = '\u0010\u0011';
const DOWN = '\u001b[B';
const SHELL = ['sh', '-c', "PS1='box$ ' exec sh"];

let world: World;
beforeAll(async () => {
  world = createWorld();
  await world.sbx('create', 'box');
  if (hasDtach) {
    await world.sbx('sessions', 'create', 'box', 'one', '--', ...SHELL);
    await world.sbx(
      'sessions',
      'create',
      'box',
      'two',
      '--',
      'sh',
      '-c',
      "printf '\\033[1;31mthis is two\\033[0m 日本'; cat",
    );
  }
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** A shell of this machine in which a line was typed after some work; one that leaves the terminal's settings alone. */
async function typed(
  line: string,
  options: Partial<TerminalOptions> = {},
): Promise<Terminal & { readonly before: string }> {
  const terminal = openTerminal(['dash'], {
    cwd: world.folder,
    ...options,
    env: { ...world.env, PS1: 'outer$ ', ...options.env },
  });
  await terminal.waitFor('outer$ ');
  terminal.type('echo work be""fore\r');
  await terminal.waitFor('work before\nouter$ ');
  const settings = await terminal.settings();
  terminal.type(`${line}; echo "code=$?"\r`);
  return Object.assign(terminal, { before: settings });
}

/** Fails unless the shell has its terminal back, with what stood on it. */
async function expectRestored(terminal: Terminal & { readonly before: string }, code: number): Promise<void> {
  await terminal.waitFor(`code=${code}`);
  expect(terminal.alternate).toBe(false);
  expect(terminal.modes).toMatchObject({ wraparoundMode: true, bracketedPasteMode: false });
  expect(terminal.scrollback().join('\n')).toContain('work before');
  const cursor = [...terminal.printed.matchAll(/\u001b\[\?25([hl])/g)].at(-1);
  expect(cursor?.[1]).toBe('h');
  expect(await terminal.settings()).toBe(terminal.before);
}

describe('sessions', () => {
  inSessions('the list, a preview, into a session, back, and out', async () => {
    await using terminal = await typed('sbx sessions box');
    await terminal.waitFor(/one +running/);
    expect(terminal.alternate).toBe(true);
    terminal.type(DOWN);
    await terminal.waitFor('this is two 日本');
    expect(terminal.screen()[0]).toMatch(/sessions of box +2 sessions/);
    terminal.type('\u001b[A\r');
    await terminal.waitFor((screen) => !screen.includes('sessions of box') && screen.includes('box$ '));
    terminal.type('echo in""side\r');
    await terminal.waitFor('inside\n');
    terminal.type(LEAVE);
    await terminal.waitFor((screen) => screen.includes('sessions of box') && screen.includes('inside'));
    terminal.type('q');
    await expectRestored(terminal, 0);
  });

  inSessions('n makes one, k ends it after a question', async () => {
    await using terminal = world.open(['sessions', 'box'], { cols: 100 });
    await terminal.waitFor(/one +running/);
    terminal.type('nthird\r');
    await terminal.waitFor(/third +running/);
    terminal.type('k');
    await terminal.waitFor("end session 'third' and all that runs in it? y/N");
    terminal.type('y');
    await terminal.waitFor((screen) => !/third +running/.test(screen) && !screen.includes('y/N'));
    terminal.type('\u0003');
    expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  });

  inSessions('a window of 40 x 10 and a smaller one', async () => {
    await using terminal = world.open(['sessions', 'box'], { cols: 40, rows: 10 });
    await terminal.waitFor(/one +running/);
    expect(terminal.screen()[0]).toContain('sessions of box');
    expect(terminal.screen()[9]).toContain('Enter attach');
    terminal.resize(20, 5);
    await terminal.waitFor((screen) => screen.trim() === 'too small');
    terminal.resize(100, 30);
    await terminal.waitFor((screen) => /one +running/.test(screen) && /Enter attach.*$/.test(screen));
    expect(terminal.screen()[29]).toContain('Enter attach');
    terminal.type('q');
    expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  });
});

describe('top', () => {
  inSessions('shows what there is, goes into it, and comes back', async () => {
    await using terminal = await typed('sbx top', { cols: 110, rows: 30 });
    await terminal.waitFor(/box +running +\d+\.\d%/);
    await terminal.waitFor((screen) => /^ one /m.test(screen) && /^ two /m.test(screen));
    terminal.type('\t');
    await terminal.waitFor('this is two');
    terminal.type('\r');
    await terminal.waitFor((screen) => !screen.includes('1 running') && screen.includes('this is two'));
    terminal.type(LEAVE);
    await terminal.waitFor('1 running, 1 in all');
    terminal.type('q');
    await expectRestored(terminal, 0);
  });
});

describe('whatever ends it, the terminal is as it was', () => {
  test.each([
    ['TERM', 143],
    ['HUP', 129],
    ['INT', 130],
  ] as const)('%s', async (signal, code) => {
    await using terminal = await typed('sbx top');
    await terminal.waitFor('1 running, 1 in all');
    process.kill(childOf(terminal.pid, 'top'), `SIG${signal}`);
    await expectRestored(terminal, code);
  });

  test.each([
    ['an uncaught error', "process.on('SIGUSR2', () => { throw new Error('boom') })"],
    ['an unhandled rejection', "process.on('SIGUSR2', () => { Promise.reject(new Error('boom')) })"],
  ])('%s, which is told afterwards', async (name, code) => {
    const file = join(world.folder, `${name.replaceAll(' ', '-')}.mjs`);
    writeFileSync(file, `if (process.argv[2] === 'top') ${code};\n`);
    await using terminal = await typed('sbx top', { env: { NODE_OPTIONS: `--import ${file}` } });
    await terminal.waitFor('1 running, 1 in all');
    process.kill(childOf(terminal.pid, 'top'), 'SIGUSR2');
    await terminal.waitFor(/Error: boom/);
    await expectRestored(terminal, 1);
  });
});

describe('where no screen can be drawn, a table is printed once', () => {
  test.each([
    ['stdout is a pipe', 'sbx top | cat'],
    ['stdin is none', 'sbx top < /dev/null'],
    ['NO_COLOR', 'NO_COLOR=1 sbx top'],
    ['a dumb terminal', 'TERM=dumb sbx top'],
    ['another format', 'sbx top -o name'],
  ])('%s', async (_name, line) => {
    await using terminal = await typed(line);
    await terminal.waitFor('code=0');
    expect(terminal.printed).not.toContain('\u001b[?1049h');
    expect(terminal.screen().join('\n')).toMatch(/^box\b/m);
  });
});

test.each([
  ['ls --watch', /box +local +running/],
  ['stats box --watch --interval 300ms', /box +\d+\.\d% +[▁▂▃▄▅▆▇█]{2}/],
  ['ports box --watch', 'nothing listens'],
])('%s is a screen', async (line, expected) => {
  await using terminal = await typed(`sbx ${line}`, { cols: 100 });
  await terminal.waitFor(expected);
  expect(terminal.alternate).toBe(true);
  terminal.type('q');
  await expectRestored(terminal, 0);
});
