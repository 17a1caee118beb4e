import { expect, test } from 'vitest';
import type { Settings } from '../../../src/lib/cli/context.ts';
import { memoryIo } from '../../../src/lib/cli/memory-io.ts';
import { type PrompterOptions, terminalPrompter } from '../../../src/lib/cli/prompts.ts';
import { KEYS, type TypedTerminal, typedTerminal } from '../../support/typed-terminal.ts';

const { signal } = new AbortController();

function prompter(terminal: TypedTerminal, more: Partial<PrompterOptions> = {}) {
  const settings: Pick<Settings, 'noInput' | 'color' | 'words'> = {
    noInput: false,
    color: undefined,
    words: [],
  };
  return terminalPrompter({ io: terminal.io, env: { TERM: 'xterm' }, settings, signal, ...more });
}

const few = ['one', 'two', 'three'].map((name) => ({ name, value: name, description: `the ${name}` }));
const many = Array.from({ length: 30 }, (_, at) => ({
  name: `box-${at}`,
  value: at,
  description: at === 7 ? 'stopped' : 'running',
}));

test('the arrows choose one of a few, and what is known of it is shown', async () => {
  const terminal = typedTerminal();
  const picked = prompter(terminal).select({ message: 'Which?', flag: '--it', choices: few });
  await terminal.answer('the one', KEYS.down);
  await terminal.answer('the two', KEYS.enter);
  expect(await picked).toBe('two');
  expect(terminal.io.stdout.text).toBe('');
});

test('what is typed filters many, by name or else by what is known of them', async () => {
  const terminal = typedTerminal();
  const byName = prompter(terminal).select({ message: 'Which?', flag: '--it', choices: many });
  await terminal.answer('type to filter', 'x-23');
  await terminal.answer('> box-23', KEYS.enter);
  expect(await byName).toBe(23);
  const byState = prompter(terminal).select({ message: 'Which?', flag: '--it', choices: many });
  await terminal.answer('type to filter', 'stop');
  await terminal.answer('> box-7', KEYS.enter);
  expect(await byState).toBe(7);
});

test('a hostile name cannot steer the terminal', async () => {
  const terminal = typedTerminal();
  const evil = '\u001b]0;owned\u0007\u001b[2J';
  const choices = [{ name: evil, value: 1, description: evil }];
  const picked = prompter(terminal).select({ message: evil, flag: '--it', choices });
  await terminal.answer('\\e]0;owned\\x07\\e[2J', KEYS.enter);
  expect(await picked).toBe(1);
  expect(terminal.raw()).not.toContain('\u001b]0;');
  expect(terminal.raw()).not.toContain('\u0007');
  expect(terminal.raw()).not.toContain('\u001b[2J');
});

test('a bare Enter confirms nothing', async () => {
  const terminal = typedTerminal();
  const sure = prompter(terminal).confirm({ message: 'Remove it?', flag: '--yes' });
  await terminal.answer('Remove it? (y/N)', KEYS.enter);
  expect(await sure).toBe(false);
  const yes = prompter(terminal).confirm({ message: 'Really?', flag: '--yes' });
  await terminal.answer('Really? (y/N)', 'y\r');
  expect(await yes).toBe(true);
});

test('a text is asked for until it is right; one that stands there can be edited', async () => {
  const terminal = typedTerminal();
  const check = (text: string) => (text === 'good' ? undefined : `not ${text}`);
  const text = prompter(terminal).input({ message: 'Say', flag: '--say', prefill: 'goo', check });
  await terminal.answer('goo', KEYS.enter);
  await terminal.answer('! not goo', 'd\r');
  expect(await text).toBe('good');
});

test.each([
  ['Ctrl-C', KEYS.ctrlC],
  ['Ctrl-D', KEYS.ctrlD],
])('%s leaves every kind of question as an interrupt', async (_, key) => {
  for (const ask of [
    (terminal: TypedTerminal) => prompter(terminal).confirm({ message: 'Sure?', flag: '--yes' }),
    (terminal: TypedTerminal) => prompter(terminal).select({ message: 'Sure?', flag: '--it', choices: few }),
    (terminal: TypedTerminal) => prompter(terminal).select({ message: 'Sure?', flag: '--it', choices: many }),
    (terminal: TypedTerminal) => prompter(terminal).input({ message: 'Sure?', flag: '--it' }),
  ]) {
    const terminal = typedTerminal();
    const left = expect(ask(terminal)).rejects.toMatchObject({ name: 'AbortError' });
    await terminal.answer('Sure?', key);
    await left;
    expect(terminal.io.stdout.text).toBe('');
  }
});

test('the end of the input and a signal end a question', async () => {
  const closed = typedTerminal();
  const question = { message: 'Sure?', flag: '--yes' };
  const left = expect(prompter(closed).confirm(question)).rejects.toMatchObject({ name: 'AbortError' });
  await closed.answer('Sure?', '');
  closed.keys.end();
  await left;
  const controller = new AbortController();
  const told = typedTerminal();
  const ended = prompter(told, { signal: controller.signal }).confirm(question);
  const aborted = expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  await told.answer('Sure?', '');
  controller.abort();
  await aborted;
});

test('colour is for those who want it', async () => {
  for (const [env, color, expected] of [
    [{ TERM: 'xterm' }, undefined, true],
    [{ TERM: 'xterm', NO_COLOR: '1' }, undefined, false],
    [{ TERM: 'xterm' }, false, false],
  ] as const) {
    const terminal = typedTerminal();
    const settings = { noInput: false, color, words: [] };
    const picked = prompter(terminal, { env, settings }).select({ message: 'Q?', flag: '-x', choices: few });
    await terminal.answer('the one', KEYS.enter);
    await picked;
    expect(/\u001b\[\d*m/.test(terminal.raw())).toBe(expected);
  }
});

test.each([
  ['CI', { env: { TERM: 'xterm', CI: 'true' } }],
  ['a dumb terminal', { env: { TERM: 'dumb' } }],
  ['--no-input', { settings: { noInput: true, color: undefined, words: ['rm', 'box', '--', '-x'] } }],
  ['a pipe for stdin', { io: memoryIo({ tty: { stderr: true, stdout: true } }) }],
  ['a file for stderr', { io: memoryIo({ tty: { stdin: true, stdout: true } }) }],
] as const)('nothing is asked with %s', async (_, more) => {
  const terminal = typedTerminal();
  const asking = prompter(terminal, more);
  expect(asking.canAsk).toBe(false);
  await expect(asking.confirm({ message: 'Remove it?', flag: '--yes' })).rejects.toMatchObject({
    code: 'usage',
    message: 'this needs an answer and there is nobody to ask: Remove it?',
    hint: 'settings' in more ? 'add --yes: sbx rm box --yes -- -x' : 'add --yes',
  });
  await expect(asking.select({ message: 'Which?', flag: '--it', choices: few })).rejects.toMatchObject({
    code: 'usage',
  });
  await expect(asking.input({ message: 'What?', flag: '--it' })).rejects.toMatchObject({ code: 'usage' });
  expect(terminal.raw()).toBe('');
});

test('stdout may be a pipe, as in $(sbx create)', () => {
  const terminal = typedTerminal();
  const io = { ...terminal.io, stdout: memoryIo().stdout };
  expect(prompter(terminal, { io }).canAsk).toBe(true);
});
