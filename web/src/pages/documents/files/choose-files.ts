interface Click {
  file: string;
  /** Whether it is chosen from now on. */
  into: boolean;
  /** The file clicked before, where all between the two are meant as well. */
  from: string | null;
}

/** What is chosen after a click on a file of the list. */
export function chooseFiles(
  chosen: ReadonlySet<string>,
  list: readonly string[],
  { file, into, from }: Click,
): ReadonlySet<string> {
  const at = list.indexOf(file);
  const before = from === null ? -1 : list.indexOf(from);
  const meant = before < 0 ? [file] : list.slice(Math.min(at, before), Math.max(at, before) + 1);
  const after = new Set(chosen);
  for (const one of meant)
    if (into) after.add(one);
    else after.delete(one);
  return after;
}
