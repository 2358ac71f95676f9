/** Who holds a place or waits for one: a user's id; null where there is no user. */
type Caller = number | null;

export interface FairPlaces {
  /**
   * Waits for a place and gives back how to let go of it. When one is free, it goes to the caller who holds the fewest;
   * among these, to the user who was given one the longest ago, and then to the oldest request.
   * @throws the signal's reason
   */
  take(caller: Caller, signal: AbortSignal): Promise<() => void>;
}

/** So many places, which no user can take from the others by asking more often. */
export function createFairPlaces(size: number): FairPlaces {
  interface Waiting {
    caller: Caller;
    start(): void;
  }
  const waiting: Waiting[] = [];
  const held = new Map<Caller, number>();
  /** When a caller was last given a place; of those alone who hold one or wait. */
  const served = new Map<Caller, number>();
  let free = size;
  let turn = 0;

  const give = (caller: Caller): (() => void) => {
    free--;
    held.set(caller, (held.get(caller) ?? 0) + 1);
    served.set(caller, turn++);
    let given = true;
    return () => {
      if (!given) return;
      given = false;
      free++;
      const left = (held.get(caller) ?? 1) - 1;
      if (left > 0) held.set(caller, left);
      else held.delete(caller);
      next();
      if (!held.has(caller) && !waiting.some((one) => one.caller === caller)) served.delete(caller);
    };
  };

  const comesBefore = (one: Waiting, other: Waiting): boolean => {
    const places = (held.get(one.caller) ?? 0) - (held.get(other.caller) ?? 0);
    return places !== 0 ? places < 0 : (served.get(one.caller) ?? -1) < (served.get(other.caller) ?? -1);
  };

  const next = (): void => {
    const [oldest, ...others] = waiting;
    if (free === 0 || oldest === undefined) return;
    const first = others.reduce((best, one) => (comesBefore(one, best) ? one : best), oldest);
    waiting.splice(waiting.indexOf(first), 1);
    first.start();
  };

  return {
    async take(caller, signal) {
      signal.throwIfAborted();
      if (free > 0) return give(caller);
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(entry), 1);
          reject(signal.reason as Error);
        };
        const entry: Waiting = {
          caller,
          start() {
            signal.removeEventListener('abort', onAbort);
            resolve(give(caller));
          },
        };
        waiting.push(entry);
        signal.addEventListener('abort', onAbort, { once: true });
      });
    },
  };
}
