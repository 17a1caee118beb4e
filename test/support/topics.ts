/** The topics of a suite that a file asks for by their titles; all of them where it names none. @throws for a title that there is not */
export function chosenTopics<T extends readonly [title: string, ...unknown[]]>(
  all: readonly T[],
  titles: readonly string[] | undefined,
): readonly T[] {
  const unknown = titles?.filter((title) => !all.some(([each]) => each === title)) ?? [];
  if (unknown.length > 0) throw new Error(`no topic ${unknown.join(', ')}`);
  return all.filter(([title]) => titles?.includes(title) ?? true);
}
