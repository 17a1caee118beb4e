/** The help page of one command, from the facts that the manifest holds. Pure. */
import { formatDuration } from '../util/duration.ts';
import { paint } from './color.ts';
import { type HelpRow, twoColumns, wrap } from './help-layout.ts';

/** What the page says of an argument. */
export interface ArgumentFacts {
  readonly name: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly multiple?: boolean;
  readonly hidden?: boolean;
  readonly options?: readonly string[];
}

/** What the page says of a flag. */
export interface FlagFacts {
  readonly name: string;
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly summary?: string;
  /** Its environment variable. */
  readonly env?: string;
  readonly hidden?: boolean;
  readonly helpGroup?: string;
  readonly helpValue?: string;
  readonly aliases?: readonly string[];
  readonly multiple?: boolean;
  readonly options?: readonly string[];
  readonly allowNo?: boolean;
  readonly default?: unknown;
}

/** A command as the manifest describes it. */
export interface CommandFacts {
  /** Words with colons between them. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  /** How it is typed, without `sbx`. */
  readonly usage: string;
  readonly examples?: readonly string[];
  readonly aliases: readonly string[];
  readonly hidden: boolean;
  readonly args: Readonly<Record<string, ArgumentFacts>>;
  readonly flags: Readonly<Record<string, FlagFacts>>;
}

/** How a page is printed. */
export interface PageOptions {
  /** Cells in a line. */
  readonly columns: number;
  readonly color: boolean;
}

/** The page of `command`; `below` are the commands whose words begin with its own, such as `forward ls`. */
export function commandPage(
  command: CommandFacts,
  below: readonly CommandFacts[],
  options: PageOptions,
): string {
  const { columns } = options;
  const flags = Object.values(command.flags)
    .filter(({ hidden }) => !hidden)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const own = flags.filter(({ helpGroup }) => helpGroup === undefined);
  const shared = flags.filter(({ helpGroup }) => helpGroup !== undefined);
  const args = Object.values(command.args).filter(({ hidden }) => !hidden);
  const also = command.aliases.map((alias) => `sbx ${spoken(alias)}`).join(', ');
  return page(
    [
      ['', wrap(command.summary, columns)],
      ['Usage', usageLines(`sbx ${command.usage}`, columns)],
      ['Also called', also === '' ? [] : wrap(also, columns, 2)],
      ['', wrap(command.description ?? '', columns)],
      ['Examples', (command.examples ?? []).flatMap(exampleLines)],
      ['Arguments', twoColumns(args.map(argumentRow), columns)],
      ['Flags', twoColumns(own.map(flagRow), columns)],
      ['Flags of every command', twoColumns(shared.map(flagRow), columns)],
      ['Commands', twoColumns(below.map(commandRow), columns)],
      ['', wrap(ENVIRONMENT, columns)],
    ],
    options,
  );
}

/** The page of a topic: words that begin several commands and are none themselves. */
export function topicPage(
  { topic, about }: { readonly topic: string; readonly about: string },
  below: readonly CommandFacts[],
  options: PageOptions,
): string {
  const { columns } = options;
  const name = spoken(topic);
  return page(
    [
      ['', wrap(about, columns)],
      ['Usage', usageLines(`sbx ${name} COMMAND`, columns)],
      ['Commands', twoColumns(below.map(commandRow), columns)],
      ['', wrap(`sbx ${name} COMMAND --help tells more of one.`, columns)],
    ],
    options,
  );
}

const ENVIRONMENT = 'A flag that is left out is taken from the environment: --no-input from SBX_NO_INPUT.';

/** Sections with a blank line between them; empty ones are left out. */
export function page(
  sections: readonly (readonly [title: string, lines: readonly string[]])[],
  { columns, color }: PageOptions,
): string {
  const blocks = sections
    .filter(([, lines]) => lines.some((line) => line !== ''))
    .map(([title, lines]) =>
      [...heading(title, columns).map((line) => paint(line, 'bold', color)), ...lines].join('\n'),
    );
  return `${blocks.join('\n\n')}\n`;
}

function heading(title: string, columns: number): string[] {
  return title === '' ? [] : wrap(`${title}:`, columns);
}

/** A usage line; what does not fit goes on below, further in. */
export function usageLines(usage: string, columns: number): string[] {
  const [first = '', ...rest] = wrap(usage, columns - 2, 2);
  return [first, ...rest.map((line) => `  ${line}`)];
}

/** Examples are there to be copied: they keep their lines. */
function exampleLines(example: string): string[] {
  return example.split('\n').map((line) => `  ${line}`);
}

function argumentRow({ name, description = '', required, multiple, options }: ArgumentFacts): HelpRow {
  const word = `${name.toUpperCase()}${multiple ? '…' : ''}`;
  return { label: required ? word : `[${word}]`, text: withNotes(description, choices(options)) };
}

function commandRow({ id, summary }: CommandFacts): HelpRow {
  return { label: spoken(id), text: summary };
}

function flagRow(flag: FlagFacts): HelpRow {
  const { name, char, summary = '', options, aliases = [], env } = flag;
  const short = char === undefined ? '    ' : `-${char}, `;
  const long = `--${flag.allowNo ? '[no-]' : ''}${name}`;
  const value = flag.type === 'option' ? ` ${flag.helpValue ?? `<${name.split('-').at(-1)}>`}` : '';
  const usual = `SBX_${name.toUpperCase().replaceAll('-', '_')}`;
  const notes = [
    choices(options),
    presetNote(flag),
    aliases.length === 0 ? undefined : `also ${aliases.map((alias) => `--${alias}`).join(', ')}`,
    env === undefined || env === usual ? undefined : `environment: ${env}`,
  ];
  return { label: `${short}${long}${value}${flag.multiple ? ' …' : ''}`, text: withNotes(summary, ...notes) };
}

function presetNote({ default: preset, helpValue, type }: FlagFacts): string | undefined {
  if (preset === undefined || type === 'boolean') return undefined;
  const isDuration = helpValue === '<duration>' && typeof preset === 'number';
  return `default ${isDuration ? formatDuration(preset) : String(preset)}`;
}

function choices(options: readonly string[] | undefined): string | undefined {
  return options === undefined || options.length === 0 ? undefined : `one of ${options.join(', ')}`;
}

function withNotes(text: string, ...notes: readonly (string | undefined)[]): string {
  const said = notes.filter((note) => note !== undefined);
  return said.length === 0 ? text : `${text} (${said.join('; ')})`;
}

/** An id as it is typed. */
export function spoken(id: string): string {
  return id.replaceAll(':', ' ');
}
