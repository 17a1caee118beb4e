/** Choosing one of several things where the command line does not say which. */
import type { SbxError } from '../errors.ts';

/** Something to choose. Names and descriptions may be hostile: whoever shows them escapes them. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  /** What else is known of it, in a few words. */
  readonly description?: string;
}

/** A choice that somebody is asked to make. */
export interface Selection<Value> {
  readonly message: string;
  /** What answers it on the command line, such as a flag. */
  readonly flag: string;
  readonly choices: readonly Choice<Value>[];
}

/** Whoever makes choices. */
export interface Chooser {
  /** Whether anybody can be asked. */
  readonly canAsk: boolean;
  select<Value>(question: Selection<Value>): Promise<Value>;
}

/** A thing to pick. */
export interface PickRequest<Item> {
  readonly message: string;
  /** Called only when somebody can be asked. */
  items(): Promise<readonly Item[]>;
  choice(item: Item): { readonly name: string; readonly description: string };
  /** Thrown when nobody can be asked: names the argument, with the command in the hint. */
  readonly missing: SbxError;
  /** Thrown when there is nothing to choose from. */
  readonly none: SbxError;
}

/** Lets somebody choose, also when there is a single one: what follows may destroy it. */
export async function pick<Item>(
  context: { prompter(): Promise<Chooser> },
  { message, items, choice, missing, none }: PickRequest<Item>,
): Promise<Item> {
  const prompter = await context.prompter();
  if (!prompter.canAsk) throw missing;
  const all = await items();
  if (all.length === 0) throw none;
  const choices = all.map((value) => ({ ...choice(value), value }));
  return prompter.select({ message, flag: missing.hint ?? missing.message, choices });
}

/** The known ones of some facts, as the description of a choice. */
export function facts(...known: readonly (string | undefined)[]): string {
  return known.filter((fact) => fact !== undefined && fact !== '').join(', ');
}
