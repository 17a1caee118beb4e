/** What `sbx help` reads: the statics of every command class as data, in the form of oclif's manifest. */

/** @returns the contents of oclif.manifest.json. */
export function manifestOf(classes, { allFlags, usageLine, version }) {
  const commands = {};
  for (const { id, Class } of [...classes].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    if (typeof Class?.summary !== 'string') throw new Error(`command ${id} has no summary`);
    commands[id] = {
      id,
      summary: Class.summary,
      description: filled(Class.description, id),
      examples: filled(Class.examples, id),
      usage: usageLine(id, Class).replace(/^sbx /, ''),
      aliases: (Class.aliases ?? []).map((alias) => alias.replaceAll(' ', ':')),
      hiddenAliases: [],
      hidden: Class.hidden ?? false,
      strict: Class.strict ?? true,
      strictCommandArgument: Class.strictCommandArgument,
      commandNeedsDashes: Class.commandNeedsDashes,
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

/** Fills oclif's templates in. */
function filled(text, id) {
  if (Array.isArray(text)) return text.map((each) => filled(each, id));
  return text
    ?.replaceAll('<%= config.bin %>', 'sbx')
    .replaceAll('<%= command.id %>', id.replaceAll(':', ' '));
}

function argData(name, arg) {
  const { description, required, multiple, options, completes, hidden, default: preset } = arg;
  return { name, description, required, multiple, options, completes, hidden, default: plain(preset) };
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
  const { dependsOn, exclusive, helpValue, multiple, options, completes, delimiter } = flag;
  const { allowNo, default: preset } = flag;
  const common = { name, type, char, summary, description, env, hidden, required, helpGroup, helpLabel };
  const rest = { aliases, charAliases, dependsOn, exclusive, default: plain(preset) };
  return type === 'boolean'
    ? { ...common, ...rest, allowNo }
    : { ...common, ...rest, helpValue, multiple, options, completes, delimiter, hasDynamicHelp: false };
}

function plain(preset) {
  return typeof preset === 'function' ? undefined : preset;
}
