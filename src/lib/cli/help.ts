/** Help, from oclif's Config and the manifest. Loaded only when somebody asks for help or mistypes a verb. */
import type { Command } from '@oclif/core';
import { decideColor } from '../ui/color.ts';
import { visible } from '../ui/text.ts';
import type { CommandTable } from './command-class.ts';
import type { Context } from './context.ts';
import { findCommand, noSuchCommand } from './main.ts';
import { nearest } from './suggest.ts';

/** Shows the help of a verb, a topic, or everything. @throws SbxError `usage` for an unknown verb. */
export async function showHelp(
  words: readonly string[],
  table: CommandTable,
  context: Context,
): Promise<number> {
  const path = words.filter((word) => !word.startsWith('-'));
  const id = path.length === 0 ? undefined : (findCommand(path, table)?.[0] ?? topicOf(path, table));
  if (path.length > 0 && id === undefined) throw unknown(path, table);
  const { Config, Help } = await import('@oclif/core');
  const config = await Config.load({ root: table.root });
  const { io, env, settings } = context;
  const stripAnsi = !decideColor({ isTTY: io.stdout.isTTY, env, flag: settings.color });
  // oclif wraps before it fills its templates in, and fails on one that it has broken.
  const maxWidth = Math.max(40, Math.min(io.stdout.columns ?? 100, 100));
  class SbxHelp extends Help {
    override log(...lines: string[]): void {
      io.stdout.write(`${lines.join(' ')}\n`);
    }
    protected override summary(command: Command.Loadable): string | undefined {
      return command.summary;
    }
  }
  const help = new SbxHelp(config, { ...config.pjson.oclif.helpOptions, stripAnsi, maxWidth });
  await help.showHelp(id === undefined ? [] : [id]);
  return 0;
}

/** A topic alone shows its verbs; anything else unknown is an error. */
export async function unknownCommand(
  words: readonly string[],
  table: CommandTable,
  context: Context,
): Promise<number> {
  const asked = words.filter((word) => word !== '-h' && word !== '--help');
  if (asked.length === 1 && topicOf(asked, table) !== undefined) return showHelp(asked, table, context);
  throw unknown(asked, table);
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
