/** What completion reads at every press of Tab: of the manifest only what it needs, since each kilobyte costs. */

/** @returns the contents of dist/completion.json; the flags in `baseFlags` are left out, for the program has them. */
export function completionOf({ commands }, { baseFlags, topics }) {
  return {
    aliases: Object.fromEntries(
      Object.values(commands).flatMap(({ id, aliases }) => aliases.map((alias) => [alias, id])),
    ),
    topics: Object.fromEntries(
      Object.entries(topics).map(([topic, { description }]) => [topic, description]),
    ),
    commands: Object.values(commands).map((command) => {
      const { id, summary, hidden, strictCommandArgument, commandNeedsDashes } = command;
      const args = Object.values(command.args).map(({ multiple, options, completes }) => ({
        multiple,
        options,
        completes,
      }));
      const flags = Object.entries(command.flags).filter(([name, flag]) => !isBase(flag, baseFlags[name]));
      return {
        id,
        summary,
        hidden: hidden || undefined,
        strictCommandArgument,
        commandNeedsDashes,
        args,
        flags: Object.fromEntries(flags.map(([name, flag]) => [name, flagOf(flag)])),
      };
    }),
  };
}

function isBase(flag, base) {
  return base !== undefined && flag.summary === base.summary;
}

function flagOf({ type, char, summary, hidden, multiple, options, aliases, allowNo, exclusive, completes }) {
  return { type, char, summary, hidden, multiple, options, aliases, allowNo, exclusive, completes };
}
