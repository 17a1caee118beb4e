/** From the words up to the cursor to what can stand there. */
import type { Answer } from './answer.ts';
import type { Asked, Found, World } from './asked.ts';
import { flagsAt, verbsAt } from './candidates.ts';
import { completers } from './completers.ts';
import { type ArgumentChoice, type Choices, completersOf, type FlagChoice } from './facts.ts';
import { type Situation, situationOf } from './situation.ts';

/** What completion needs of the world, before it is known which backend was chosen. */
export type OpenWorld = (chosen: string | undefined) => World;

const NOTHING: Answer = { candidates: [], before: '' };

/** What can stand at the cursor. What fails or takes too long has no candidates. */
export async function complete(
  words: readonly string[],
  choices: Choices,
  openWorld: OpenWorld,
): Promise<Answer> {
  const situation = situationOf(words, choices);
  if (situation === undefined) return NOTHING;
  const { place, flags } = situation;
  const world = openWorld(flags.get('backend')?.at(-1));
  switch (place.kind) {
    case 'inner':
      return { ...NOTHING, innerAt: place.at };
    case 'flag':
      return { ...NOTHING, candidates: flagsAt(situation) };
    case 'value': {
      const { candidates, local } = await valuesOf(place.flag, situation, world);
      const whole = candidates.map((each) => ({ ...each, value: `${place.before}${each.value}` }));
      return { candidates: whole, local, before: place.before };
    }
    case 'word':
      return { ...NOTHING, ...(await atWord(situation, choices, world)) };
  }
}

/** Verbs and arguments; flags where neither can stand. */
async function atWord(situation: Situation, choices: Choices, world: World): Promise<Found> {
  const { command, args, isHelp, verbMayFollow, word } = situation;
  const verbs = verbMayFollow || isHelp ? verbsAt(situation, choices) : [];
  const known = command?.args ?? [];
  const index = isHelp ? -1 : placeAt(known, args.length);
  const argument = known[index];
  if (argument === undefined) {
    const isDone = verbs.length === 0 && command !== undefined && word === '' && !isHelp;
    return { candidates: isDone ? flagsAt(situation) : verbs };
  }
  const { candidates, local } = await valuesOf(argument, situation, world, args.length - index);
  // What begins with a dash would be taken for a flag.
  const named = candidates.filter(({ value }) => !value.startsWith('-'));
  return { candidates: [...verbs, ...named], ...(local === undefined ? {} : { local }) };
}

/** Which argument the word at `index` belongs to; -1: none. */
function placeAt(args: readonly ArgumentChoice[], index: number): number {
  const last = args.length - 1;
  if (index <= last) return index;
  return args[last]?.multiple ? last : -1;
}

/** What an argument or the value of a flag can be. */
async function valuesOf(
  choice: ArgumentChoice | FlagChoice,
  situation: Situation,
  world: World,
  index = 0,
): Promise<Found> {
  if (choice.options !== undefined) return { candidates: choice.options.map((value) => ({ value })) };
  const names = completersOf(choice, index);
  const found = await Promise.all(
    names.map(async (full) => {
      const [name = '', detail] = full.split(':');
      return await ask(name, { ...situation, detail, isOneOfMany: names.length > 1 }, world);
    }),
  );
  const local = found.find((each) => each.local !== undefined)?.local;
  return {
    candidates: found.flatMap((each) => each.candidates),
    ...(local === undefined ? {} : { local }),
  };
}

/** Asks a completer, until the call is aborted: not every backend obeys. */
async function ask(name: string, asked: Asked, world: World): Promise<Found> {
  const { signal } = world.call;
  const late = new Promise<never>((_, reject) => {
    const giveUp = () => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
  });
  try {
    const completer = completers[name];
    if (completer === undefined) throw new Error(`there is no completer ${name}`);
    return await Promise.race([completer(asked, world), late]);
  } catch (error) {
    world.note(error);
    return { candidates: [] };
  }
}
