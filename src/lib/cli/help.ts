/** Help, from the manifest that the build writes. Loaded only when somebody asks for help or mistypes a verb. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../errors.ts';
import { decideColor } from '../ui/color.ts';
import { type CommandFacts, commandPage, topicPage } from '../ui/command-help.ts';
import { overviewPage } from '../ui/overview-help.ts';
import { visible } from '../ui/text.ts';
import type { CommandTable } from './command-class.ts';
import type { Context } from './context.ts';
import { baseFlags } from './flags.ts';
import { findCommand, noSuchCommand } from './main.ts';
import { nearest } from './suggest.ts';

const ABOUT = 'sbx: one command line for every sandbox.';

/**
 * Shows the help of a verb, a topic, or everything; with `--json` the facts behind it.
 * @throws SbxError `usage` for an unknown verb or flag.
 */
export async function showHelp(
  words: readonly string[],
  table: CommandTable,
  context: Context,
): Promise<number> {
  const path = words.filter((word) => !word.startsWith('-'));
  const asked = words.filter((word) => word.startsWith('-'));
  refuseUnknownFlags(asked);
  const id = path.length === 0 ? undefined : (findCommand(path, table)?.[0] ?? topicOf(path, table));
  if (path.length > 0 && id === undefined) throw unknown(path, table);
  const { io, env, settings } = context;
  const all = readManifest(table);
  const shown = all.filter(({ hidden }) => !hidden);
  const below = shown.filter((each) => id !== undefined && each.id.startsWith(`${id}:`));
  const command = id === undefined ? undefined : all.find((each) => each.id === id);
  if (asked.includes('--json')) {
    const facts = id === undefined ? shown : [...(command === undefined ? [] : [command]), ...below];
    io.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
    return 0;
  }
  const flag = asked.includes('--no-color') ? false : asked.includes('--color') ? true : settings.color;
  const options = {
    columns: Math.max(20, Math.min(io.stdout.columns ?? 80, 100)),
    color: decideColor({ isTTY: io.stdout.isTTY, env, flag }),
  };
  const known = [...new Set(shown.map((each) => each.id.split(':')[0] ?? ''))];
  if (id === undefined) io.stdout.write(overviewPage(ABOUT, known, options));
  else if (command === undefined)
    io.stdout.write(topicPage({ topic: id, about: aboutTopic(id, table) }, below, options));
  else io.stdout.write(commandPage(command, below, options));
  return 0;
}

/** A topic alone shows its verbs, and global flags alone everything; anything else unknown is an error. */
export async function unknownCommand(
  words: readonly string[],
  table: CommandTable,
  context: Context,
): Promise<number> {
  const asked = words.filter((word) => word !== '-h' && word !== '--help');
  const isTopic = asked.length === 1 && topicOf(asked, table) !== undefined;
  if (isTopic || asked.every((word) => word.startsWith('-'))) return showHelp(asked, table, context);
  if (asked[0]?.startsWith('-')) refuseUnknownFlags(asked.slice(0, 1));
  throw unknown(asked, table);
}

/** What the build wrote. @throws Error when the installation is broken. */
function readManifest({ root }: CommandTable): readonly CommandFacts[] {
  const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
    readonly commands: Readonly<Record<string, CommandFacts>>;
  };
  return Object.values(commands);
}

/** What package.json says of a topic. */
function aboutTopic(topic: string, { root }: CommandTable): string {
  const { oclif } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly oclif: { readonly topics: Readonly<Record<string, { readonly description: string }>> };
  };
  return oclif.topics[topic]?.description ?? '';
}

/** @throws SbxError `usage` for a flag that not every command has. */
function refuseUnknownFlags(words: readonly string[]): void {
  const flags = Object.entries<{ char?: string; allowNo?: boolean; aliases?: string[] }>(baseFlags);
  const known = flags.flatMap(([name, { char, allowNo, aliases = [] }]) => [
    ...[name, ...aliases, ...(allowNo ? [`no-${name}`] : [])].map((each) => `--${each}`),
    ...(char === undefined ? [] : [`-${char}`]),
  ]);
  known.push('-h', '--help', '--version', '-V');
  const stranger = words.map((word) => word.split('=', 1)[0] ?? '').find((word) => !known.includes(word));
  if (stranger === undefined) return;
  const guess = nearest(stranger, known);
  const hint = guess === undefined ? 'sbx help lists the commands' : `did you mean ${guess}?`;
  throw new SbxError('usage', `unknown flag ${visible(stranger)}`, { hint });
}

function topicOf(words: readonly string[], table: CommandTable): string | undefined {
  const id = words.join(':');
  return Object.keys(table.commands).some((each) => each.startsWith(`${id}:`)) ? id : undefined;
}

function unknown(words: readonly string[], table: CommandTable) {
  const names = [...Object.keys(table.commands), ...Object.keys(table.aliases)].map((id) =>
    id.replaceAll(':', ' '),
  );
  const [first = '', second] = words;
  const isTopic = topicOf([first], table) !== undefined;
  const typed = isTopic && second !== undefined ? `${first} ${second}` : first;
  return noSuchCommand(visible(typed), nearest(typed, names));
}
