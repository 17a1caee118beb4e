/** What every command says of itself, read from the manifest that the build wrote. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandFacts } from '../../src/lib/ui/command-help.ts';
import { THEMES } from '../../src/lib/ui/overview-help.ts';
import { filesBelow, root } from './sources.ts';

const manifest = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  version: string;
  commands: Record<string, CommandFacts>;
};
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  oclif: { topics: Record<string, unknown> };
};
const commands = Object.values(manifest.commands);
const ids = filesBelow('src/commands', '.ts', '.tsx').map((path) =>
  path
    .replace(/^src\/commands\/|\.tsx?$/g, '')
    .replace(/\/index$/, '')
    .replaceAll('/', ':'),
);

test('the manifest is that of these sources', () => {
  expect(Object.keys(manifest.commands)).toEqual(ids.sort());
  expect(manifest.version).toBe(packageJson.version);
});

test('every topic says what it is, and no other does', () => {
  const topics = new Set(ids.filter((id) => id.includes(':')).map((id) => id.split(':')[0]));
  expect(Object.keys(packageJson.oclif.topics).sort()).toEqual([...topics].sort());
});

test('every verb has its place in the overview', () => {
  const verbs = new Set(commands.filter(({ hidden }) => !hidden).map(({ id }) => id.split(':')[0] ?? ''));
  const placed = THEMES.flatMap(({ lines }) => lines.flatMap(({ names }) => names));
  expect([...verbs].filter((verb) => !placed.includes(verb))).toEqual([]);
  expect(new Set(placed).size).toBe(placed.length);
});

describe.each(commands.map((command) => [command.id.replaceAll(':', ' '), command] as const))(
  'sbx %s',
  (words, command) => {
    const { summary, examples = [], args, flags } = command;

    test('has a summary in one line, like those of the others', () => {
      expect(summary).toMatch(/^[a-z].{0,79}[^.\s]$/);
    });

    test('has examples of itself that fit a line', () => {
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) {
        expect(example).toContain('sbx ');
        for (const line of example.split('\n')) expect(line.length, line).toBeLessThanOrEqual(98);
      }
      expect(examples.some((example) => example.includes(`sbx ${words}`))).toBe(true);
    });

    test('its examples use only flags that there are', () => {
      const known = Object.values(flags).flatMap(({ name, aliases = [], allowNo }) => [
        ...[name, ...aliases].map((each) => `--${each}`),
        ...(allowNo ? [`--no-${name}`] : []),
      ]);
      for (const example of examples) {
        const own = example.split(`sbx ${words}`)[1]?.split(/ -- | \| |'/)[0] ?? '';
        for (const [flag] of own.matchAll(/(?<=\s)--[a-z][\w-]*/g)) expect(known, example).toContain(flag);
      }
    });

    test('says what each flag and argument is', () => {
      for (const { name, summary: text, hidden } of Object.values(flags)) {
        if (!hidden) expect(text, `--${name}`).toMatch(/^\S.*[^.\s]$/);
      }
      for (const { name, description } of Object.values(args)) expect(description, name).toMatch(/\S/);
    });

    test('gives no letter and no variable to two flags', () => {
      const letters = Object.values(flags).flatMap(({ char }) => (char === undefined ? [] : [char]));
      const variables = Object.values(flags).map(({ env }) => env);
      expect(new Set(letters).size).toBe(letters.length);
      expect(new Set(variables).size).toBe(variables.length);
      expect(letters).not.toContain('h');
    });
  },
);
