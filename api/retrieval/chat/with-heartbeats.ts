import { LATE, orLate } from '../../../activities/temporal/or-late.js';

/**
 * An iterator's items, and `LATE` each time none has come for so long. Leaving early returns the iterator.
 * @param everyMs 0: never
 */
export async function* withHeartbeats<Item>(
  pending: Promise<IteratorResult<Item, void>>,
  rest: AsyncGenerator<Item, void, undefined>,
  everyMs: number,
): AsyncGenerator<Item | typeof LATE, void, undefined> {
  try {
    for (let next = pending; ;) {
      const step = await orLate(next, everyMs);
      if (step === LATE) {
        yield LATE;
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
