/** Lets so many in at once; the others wait in the order in which they came. */
export function createSemaphore(slots: number) {
  let free = slots;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    /** Answers the release, to be called once. Rejects with the signal's reason when it aborts while waiting. */
    async enter(signal?: AbortSignal): Promise<() => void> {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else
        await new Promise<void>((resolve, reject) => {
          const onAbort = (): void => {
            waiting.splice(waiting.indexOf(enter), 1);
            reject(signal?.reason as Error);
          };
          const enter = (): void => {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          };
          signal?.addEventListener('abort', onAbort, { once: true });
          waiting.push(enter);
        });
      let left = false;
      return () => {
        if (!left) release();
        left = true;
      };
    },
  };
}

export type Semaphore = ReturnType<typeof createSemaphore>;

/** One for each name, made when it is first asked for. */
export function createSemaphores(slots: number): (name: string) => Semaphore {
  const made = new Map<string, Semaphore>();
  return (name) => {
    const found = made.get(name) ?? createSemaphore(slots);
    made.set(name, found);
    return found;
  };
}
