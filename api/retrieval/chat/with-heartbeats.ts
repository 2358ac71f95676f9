/** Nothing has come for a while. */
export const SILENCE = Symbol('silence');

/**
 * An iterator's items, and `SILENCE` each time none has come for so long. Leaving early returns the iterator.
 * @param everyMs 0: never
 */
export async function* withHeartbeats<Item>(
  pending: Promise<IteratorResult<Item, void>>,
  rest: AsyncGenerator<Item, void, undefined>,
  everyMs: number,
): AsyncGenerator<Item | typeof SILENCE, void, undefined> {
  try {
    for (let next = pending; ;) {
      const step = await orSilence(next, everyMs);
      if (step === SILENCE) {
        yield SILENCE;
        continue;
      }
      if (step.done === true) return;
      yield step.value;
      next = rest.next();
    }
  } finally {
    await rest.return();
  }
}

/** What comes first: the promise, or so much silence. */
export const orSilence = async <T>(promise: Promise<T>, withinMs: number): Promise<T | typeof SILENCE> => {
  if (withinMs === 0) return promise;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<typeof SILENCE>((resolve) => {
    timer = setTimeout(() => resolve(SILENCE), withinMs);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    clearTimeout(timer);
  }
};
