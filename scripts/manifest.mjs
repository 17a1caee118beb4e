/** What `sbx help` reads: the statics of every command class as data, in the form of oclif's manifest. */

/** @returns the contents of oclif.manifest.json. */
export function manifestOf(classes, allFlags, version) {
  const commands = {};
  for (const { id, Class } of [...classes].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (typeof Class?.summary !== 'string') throw new Error(`command ${id} has no summary`);
    commands[id] = {
      id,
      summary: Class.summary,
      description: filled(Class.description, id),
      examples: filled(Class.examples, id),
      usage: filled(Class.usage ?? usageOf(Class), id),
      aliases: (Class.aliases ?? []).map((alias) => alias.replaceAll(' ', ':')),
      hiddenAliases: [],
      hidden: Class.hidden ?? false,
      strict: Class.strict ?? true,
      hasDynamicHelp: false,
      pluginName: 'sbx-cli',
      pluginType: 'core',
      args: Object.fromEntries(
        Object.entries(Class.args ?? {}).map(([name, arg]) => [name, argData(name, arg)]),
      ),
      flags: Object.fromEntries(
        Object.entries(allFlags(Class.flags)).map(([name, flag]) => [name, flagData(name, flag)]),
      ),
    };
  }
  return { version, commands };
}

/** oclif fills its templates in after it has wrapped the lines, and fails on one that a narrow terminal breaks. */
function filled(text, id) {
  if (Array.isArray(text)) return text.map((each) => filled(each, id));
  return text
    ?.replaceAll('<%= config.bin %>', 'sbx')
    .replaceAll('<%= command.id %>', id.replaceAll(':', ' '));
}

/** Given for each command: oclif's own lists every global flag, and is a template that a narrow terminal breaks. */
function usageOf(Class) {
  const args = Object.entries(Class.args ?? {}).map(([name, { required, multiple }]) => {
    const word = `${name.toUpperCase()}${multiple ? '…' : ''}`;
    return required ? word : `[${word}]`;
  });
  const inner = Class.commandNeedsDashes ? ['[-- CMD…]'] : ['[--] CMD…'];
  const takesInner = Class.commandNeedsDashes || Class.strictCommandArgument !== undefined;
  return ['<%= command.id %> [FLAGS]', ...args, ...(takesInner ? inner : [])].join(' ');
}

function argData(name, { description, required, multiple, options, hidden, default: preset }) {
  return { name, description, required, multiple, options, hidden, default: plain(preset) };
}

function flagData(name, flag) {
  const {
    type,
    char,
    summary,
    description,
    env,
    hidden,
    required,
    helpGroup,
    helpLabel,
    aliases,
    charAliases,
  } = flag;
  const { dependsOn, exclusive, helpValue, multiple, options, delimiter, allowNo, default: preset } = flag;
  const common = { name, type, char, summary, description, env, hidden, required, helpGroup, helpLabel };
  const rest = { aliases, charAliases, dependsOn, exclusive, default: plain(preset) };
  return type === 'boolean'
    ? { ...common, ...rest, allowNo }
    : { ...common, ...rest, helpValue, multiple, options, delimiter, hasDynamicHelp: false };
}

function plain(preset) {
  return typeof preset === 'function' ? undefined : preset;
}
