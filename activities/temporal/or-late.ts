/** The time was over first. */
export const LATE = Symbol('late');

/**
 * What comes first: the promise, or so many milliseconds. The promise is left to itself then.
 * @param withinMs 0: it is waited for
 */
export async function orLate<T>(promise: Promise<T>, withinMs: number): Promise<T | typeof LATE> {
  if (withinMs === 0) return promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(() => resolve(LATE), withinMs);
  });
  // When the time ends first, a late failure must not go unhandled.
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
