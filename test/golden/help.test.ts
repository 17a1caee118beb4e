/**
 * Every help page as it is printed at 80 columns. To accept new ones: npm test -- test/golden -u
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandTable } from '../../src/lib/cli/command-class.ts';
import { createContext } from '../../src/lib/cli/context.ts';
import { main } from '../../src/lib/cli/main.ts';
import { memoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import type { CommandFacts } from '../../src/lib/ui/command-help.ts';
import { width } from '../../src/lib/ui/text.ts';
import { root } from '../repo/sources.ts';

const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, CommandFacts>;
};
const ids = Object.keys(commands);
const topics = [...new Set(ids.filter((id) => id.includes(':')).map((id) => id.split(':')[0] ?? ''))];
const table: CommandTable = {
  root,
  commands: Object.fromEntries(ids.map((id) => [id, () => Promise.reject(new Error(`${id} was loaded`))])),
  aliases: Object.fromEntries(
    Object.values(commands).flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])),
  ),
};

async function sbx(argv: readonly string[], columns = 80) {
  const io = memoryIo({ columns });
  const exit = await main(argv, table, createContext({ io, env: {}, signals: new SignalHub() }));
  return { exit, stdout: io.stdout.text, stderr: io.stderr.text };
}

const pages = ['', ...new Set([...ids, ...topics])].map((id) => [id.replaceAll(':', ' ')] as const);

describe.each(pages)('sbx help %s', (words) => {
  const asked = ['help', ...words.split(' ').filter(Boolean)];

  test('is what it was', async () => {
    const { exit, stdout, stderr } = await sbx(asked);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const file = words === '' ? 'sbx' : words.replaceAll(' ', '-');
    await expect(stdout).toMatchFileSnapshot(`help/${file}.txt`);
  });

  test.each([20, 40, 80, 100])(
    'fits %i columns, but for words and examples that are there to be copied',
    async (columns) => {
      const lines = (await sbx(asked, columns)).stdout.replace(/\nExamples:\n(.+\n)+/, '\n').split('\n');
      const long = lines.filter((line) => width(line) > columns && line.trim().includes(' '));
      expect(long.filter((line) => !/^ *(-\w, )?--\S+ \S+$/.test(line))).toEqual([]);
      expect(lines.filter((line) => /\s$/.test(line))).toEqual([]);
    },
  );
});

test('there is no page of a command that is gone', () => {
  const files = pages.map(([words]) => `${words === '' ? 'sbx' : words.replaceAll(' ', '-')}.txt`);
  expect(readdirSync(new URL('help', import.meta.url)).sort()).toEqual(files.sort());
});

test('the overview is one screen', async () => {
  const { stdout } = await sbx([]);
  expect(stdout.split('\n').length).toBeLessThan(50);
  expect(stdout).toBe((await sbx(['help'])).stdout);
  expect(stdout).toBe((await sbx(['--help'])).stdout);
  expect(stdout).toBe((await sbx(['-h'])).stdout);
});

test('a topic that is no command shows its verbs, also without help', async () => {
  const { stdout } = await sbx(['help', 'files']);
  expect(stdout).toContain('files cat');
  expect(await sbx(['files'])).toMatchObject({ exit: 0, stdout });
  expect(await sbx(['files', '-h'])).toMatchObject({ exit: 0, stdout });
});

test('an alias has the page of its command', async () => {
  expect((await sbx(['help', 'list'])).stdout).toBe((await sbx(['help', 'ls'])).stdout);
});

test('--json gives the facts', async () => {
  expect(JSON.parse((await sbx(['help', '--json'])).stdout)).toHaveLength(
    Object.values(commands).filter(({ hidden }) => !hidden).length,
  );
  expect(JSON.parse((await sbx(['help', 'forward', '--json'])).stdout)).toMatchObject([
    { id: 'forward' },
    { id: 'forward:ls' },
    { id: 'forward:stop' },
  ]);
});

test.each([
  [['crate'], 'there is no command crate', 'sbx create'],
  [['help', 'exce'], 'there is no command exce', 'sbx exec'],
  [['files', 'cta'], 'there is no command files cta', 'sbx files cat'],
  [['--jsno'], 'unknown flag --jsno', '--json'],
  [['--quite', 'ls'], 'unknown flag --quite', '--quiet'],
  [['help', '--colour'], 'unknown flag --colour', '--color'],
  [['zzzzzz'], 'there is no command zzzzzz', 'sbx help lists the commands'],
  [['\u001b[31m'], 'there is no command \\e[31m', 'sbx help lists the commands'],
])('%j is a mistake with a way out', async (argv, message, hint) => {
  const { exit, stdout, stderr } = await sbx(argv);
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
  expect(stderr).toContain(`error: ${message}`);
  expect(stderr).toContain(hint);
});

test('colour is for terminals, and for those who ask', async () => {
  expect((await sbx(['help'])).stdout).not.toContain('\u001b');
  expect((await sbx(['help', '--color'])).stdout).toContain('\u001b[1mUsage:');
});
