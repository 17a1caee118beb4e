/** Questions on a real terminal, asked by the built program about real sandboxes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Terminal } from '../support/terminal.ts';
import { createWorld, type World } from './world.ts';

const UP = '\u001b[A';
const DOWN = '\u001b[B';
const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_Z = '\u001a';

let world: World;
beforeAll(async () => {
  world = createWorld();
  await world.sbx('create', 'one');
  await world.sbx('create', 'two');
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** What the screen shows, without the breaks of its rows. */
const flat = (terminal: Terminal) => terminal.screen().join('');
const names = async () => (await world.sbx('ls', '--all', '-q')).trim().split('\n').sort();

/** A shell in which this command line has been typed. */
async function typed(line: string, options: Parameters<World['shell']>[0] = {}): Promise<Terminal> {
  const terminal = world.shell(options);
  await terminal.waitFor('outer$ ');
  terminal.type(`${line}\r`);
  return terminal;
}

/** Fails unless the terminal is as a shell wants it. */
async function expectCooked(terminal: Terminal): Promise<void> {
  terminal.type('stty -a\r');
  await terminal.waitFor(/ icanon /);
  expect(flat(terminal)).toMatch(/[^-]icanon/);
  expect(flat(terminal)).toMatch(/[^-]echo /);
}

describe('create with nothing given', () => {
  test('asks, shows the command and runs it; a shell gets the name alone', async () => {
    await using terminal = await typed('made=$(sbx create); echo "code=$? made=[$made]"');
    await terminal.waitFor('Made from what?');
    await terminal.waitFor('❯ a copy of this machine');
    terminal.type(ENTER);
    await terminal.waitFor('How large may it get?');
    terminal.type(ENTER);
    await terminal.waitFor('Which network?');
    terminal.type(UP + DOWN + DOWN + DOWN + DOWN);
    await terminal.waitFor('❯ none');
    terminal.type(ENTER);
    await terminal.waitFor('Name (empty: one is made up):');
    terminal.type(`one${ENTER}`);
    await terminal.waitFor("! there is a sandbox 'one' already");
    terminal.type(`-more${ENTER}`);
    await terminal.waitFor('The command is: sbx create one-more --network none');
    await terminal.waitFor('❯ run it');
    terminal.type(ENTER);
    await terminal.waitFor('code=0 made=[one-more]');
    expect(await names()).toEqual(['one', 'one-more', 'two']);
    await world.sbx('rm', '--force', 'one-more');
  });

  test('Ctrl-C at each question is 130, prints nothing on stdout and leaves the terminal as it was', async () => {
    const questions = [
      'Made from what?',
      'How large may it get?',
      'Which network?',
      'Name (empty: one is made up):',
      'The command is:',
    ];
    for (const [at, last] of questions.entries()) {
      await using terminal = await typed('made=$(sbx create); echo "code=$? made=[$made]"');
      for (const question of questions.slice(0, at)) {
        await terminal.waitFor(`? ${question}`);
        terminal.type(ENTER);
      }
      await terminal.waitFor(`? ${last}`);
      terminal.type(CTRL_C);
      await terminal.waitFor('code=130 made=[]');
      expect(flat(terminal)).not.toMatch(/error|Error|at .*\.js/);
      await expectCooked(terminal);
    }
    expect(await names()).toEqual(['one', 'two']);
  });

  test('the command can be changed before it runs', async () => {
    await using terminal = await typed('sbx create; echo "code=$?"');
    for (const question of ['Made from what?', 'How large', 'Which network?', 'Name']) {
      await terminal.waitFor(`? ${question}`);
      terminal.type(ENTER);
    }
    await terminal.waitFor('The command is: sbx create --yes');
    terminal.type(DOWN);
    await terminal.waitFor('❯ change it');
    terminal.type(ENTER);
    await terminal.waitFor('$ sbx create --yes');
    terminal.type(` changed --label 'a=b c'${ENTER}`);
    await terminal.waitFor("The command is: sbx create --yes changed --label 'a=b c'");
    terminal.type(ENTER);
    await terminal.waitFor('code=0');
    expect(await world.sbx('ls', '-q', '--label', 'a=b c')).toBe('changed\n');
    await world.sbx('rm', '--force', 'changed');
  });
});

describe('a sandbox that is not named', () => {
  test('is chosen, and the command then has the terminal and its input', async () => {
    await using terminal = await typed('sbx exec -- sh');
    await terminal.waitFor('Which sandbox?');
    await terminal.waitFor(/❯ (one|two)/);
    terminal.type(DOWN);
    await terminal.waitFor(/❯ one/);
    terminal.type(ENTER);
    await terminal.waitFor(/one\n.*[#$] $/m);
    terminal.type('test -t 0 && test -t 1 && echo on a ter""minal; exit 3\r');
    await terminal.waitFor('on a terminal');
    await terminal.waitFor(/outer\$ $/m);
    terminal.type('echo "code=$?"\r');
    await terminal.waitFor('code=3');
  });

  test('is asked for with stdout in a pipe too, which stays one that blocks', async () => {
    await using terminal = await typed('sbx exec -- sh -c "grep flags /proc/self/fdinfo/1" | cat');
    await terminal.waitFor('Which sandbox?');
    terminal.type(ENTER);
    await terminal.waitFor(/flags:\s+0?\d+/);
    const flags = Number.parseInt(/flags:\s+(\d+)/.exec(flat(terminal))?.[1] ?? '', 8);
    expect(flags & 0o4000).toBe(0);
  });

  test('can be chosen in a window of 20 columns, and while it is resized', async () => {
    await using terminal = await typed('sbx rm', { cols: 20, rows: 12 });
    await terminal.waitFor(/❯ two/);
    terminal.type(DOWN);
    await terminal.waitFor(/❯ one/);
    terminal.resize(60, 20);
    terminal.type(UP);
    await terminal.waitFor(/❯ two/);
    terminal.resize(30, 10);
    terminal.type(ENTER);
    await terminal.waitFor(/\(y\/N\)/);
    expect(flat(terminal)).toContain("Remove sandbox 'two' with all files and processes?");
    terminal.type(ENTER);
    await terminal.waitFor(/nothing was removed/);
    expect(await names()).toEqual(['one', 'two']);
  });

  test('that has gone meanwhile is a clear error', async () => {
    await world.sbx('create', 'zone');
    await using terminal = await typed('sbx exec -- true; echo "code=$?"');
    await terminal.waitFor(/❯ zone/);
    await world.sbx('rm', '--force', 'zone');
    terminal.type(ENTER);
    await terminal.waitFor('code=125');
    expect(flat(terminal)).toContain("error: sandbox 'zone' has been removed meanwhile");
  });
});

describe('leaving', () => {
  test('Ctrl-Z and fg go on with the question; Ctrl-D leaves it, also after that', async () => {
    await using terminal = await typed('sbx rename one; echo "code=$?"');
    await terminal.waitFor("New name of 'one':");
    terminal.type(CTRL_Z);
    await terminal.waitFor('Stopped');
    await expectCooked(terminal);
    terminal.type('clear; fg\r');
    await terminal.waitFor(/^sbx rename/m);
    terminal.type('x y');
    await terminal.waitFor(/'one': x y/);
    terminal.type(ENTER);
    await terminal.waitFor('! the new name "x y" is not allowed');
    terminal.type(`\u0015${CTRL_D}`);
    await terminal.waitFor(/outer\$ $/m);
    expect(await names()).toEqual(['one', 'two']);
    await expectCooked(terminal);
  });

  test.each([['TERM'], ['HUP']] as const)('SIG%s restores the terminal', async (signal) => {
    await using terminal = await typed('sbx create & echo "pid=$!"; fg; echo "code=$?"');
    await terminal.waitFor('a copy of this machine');
    const pid = Number(/pid=(\d+)/.exec(flat(terminal))?.[1]);
    process.kill(pid, `SIG${signal}`);
    await terminal.waitFor(`code=${signal === 'TERM' ? 143 : 129}`);
    await expectCooked(terminal);
  });
});

describe('nobody is asked', () => {
  test.each([
    [
      'CI=1 sbx exec -- true',
      /error: no sandbox is named and 2 are running\nhint: sbx exec (one|two) -- true\n/,
    ],
    ['TERM=dumb sbx rm one', /hint: add --force: sbx rm one --force\n/],
    ['sbx rm one --no-input', /hint: add --force: sbx rm one --no-input --force\n/],
    ['sbx snapshot rm </dev/null', /hint: sbx snapshot rm SNAPSHOT; see them: sbx snapshot ls\n/],
    ['set -o pipefail; sbx snapshot rm 2>&1 | cat', /hint: sbx snapshot rm SNAPSHOT; see them/],
  ])('%s', async (line, expected) => {
    await using terminal = await typed(`${line}; echo "code=$?"`, { cols: 120 });
    await terminal.waitFor(/^code=/m);
    const shown = terminal.screen().join('\n');
    expect(shown).toMatch(/^code=2$/m);
    expect(shown).toMatch(expected);
    expect(await names()).toEqual(['one', 'two']);
  });
});
