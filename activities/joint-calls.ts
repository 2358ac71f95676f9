import { AsyncResource } from 'node:async_hooks';

interface Waiting<Item, Result> {
  items: readonly Item[];
  signal: AbortSignal | undefined;
  resolve(results: Result[]): void;
  reject(error: unknown): void;
  /** Of the caller: its request's id and its span are those of the calls that are made for it. */
  scope: AsyncResource;
}

export interface JointCallsOptions<Item, Result> {
  /** Items of one joint call. */
  size: number;
  /** What comes within this time of each other shares a call, where none is under way; 0: the first goes at once. */
  windowMs: number;
  /** Answers a result for each item, in their order. */
  call(items: readonly Item[], signal: AbortSignal | undefined): Promise<Result[]>;
  /** A caller that leaves while its call is under way waits for the end of it: for calls that write. */
  finishes?: boolean;
  /** Whether a failure says nothing about the items, so that each caller by itself would meet it as well. */
  isForAll(error: unknown): boolean;
}

/**
 * One call for the few items of several callers. What comes while a call is under way goes with the next one, so that
 * calls are as large as there is work and no text waits for others for longer than a call takes. A joint call that
 * fails is made again for each caller by itself, so that what one of them has brought fails alone. Many items of one
 * caller are sent as they come. Logs and traces have a joint call once, at the first of its callers.
 */
export function createJointCalls<Item, Result>(
  options: JointCallsOptions<Item, Result>,
): (items: readonly Item[], signal?: AbortSignal) => Promise<Result[]> {
  const { size, windowMs, call, isForAll, finishes = false } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let timer: NodeJS.Timeout | undefined;

  const alone = async ({ items, signal, resolve, reject, scope }: Waiting<Item, Result>): Promise<void> => {
    try {
      resolve(await scope.runInAsyncScope(() => call(items, signal)));
    } catch (error) {
      reject(error);
    }
  };

  const together = async (joined: readonly Waiting<Item, Result>[]): Promise<void> => {
    const abandoned = new AbortController();
    const leave = (): void => {
      if (joined.every(({ signal }) => signal?.aborted === true)) abandoned.abort();
    };
    for (const { signal } of joined) signal?.addEventListener('abort', leave);
    try {
      const items = joined.flatMap((one) => one.items);
      const results = await joined[0]!.scope.runInAsyncScope(() => call(items, abandoned.signal));
      let from = 0;
      for (const one of joined) one.resolve(results.slice(from, (from += one.items.length)));
    } catch (error) {
      if (abandoned.signal.aborted || isForAll(error)) for (const one of joined) one.reject(error);
      else await Promise.all(joined.map(alone));
    } finally {
      for (const { signal } of joined) signal?.removeEventListener('abort', leave);
    }
  };

  const take = (): Waiting<Item, Result>[] => {
    let count = 0;
    let items = 0;
    while (count < waiting.length && (count === 0 || items + waiting[count]!.items.length <= size)) {
      items += waiting[count]!.items.length;
      count += 1;
    }
    return waiting.splice(0, count);
  };

  const send = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const joined = take();
    if (joined.length === 0) return;
    underWay += 1;
    const [only, second] = joined;
    await (second === undefined ? alone(only!) : together(joined));
    underWay -= 1;
    void send();
  };

  const join = async (items: readonly Item[], signal: AbortSignal | undefined): Promise<Result[]> => {
    signal?.throwIfAborted();
    let leave = (): void => undefined;
    try {
      return await new Promise<Result[]>((resolve, reject) => {
        const own: Waiting<Item, Result> = {
          items,
          signal,
          resolve,
          reject,
          scope: new AsyncResource('JointCall'),
        };
        leave = () => {
          const isUnderWay = !waiting.includes(own);
          if (isUnderWay && finishes) return;
          waiting = waiting.filter((one) => one !== own);
          reject(signal?.reason as Error);
        };
        signal?.addEventListener('abort', leave, { once: true });
        waiting.push(own);
        const full = waiting.reduce((sum, one) => sum + one.items.length, 0) >= size;
        if (full) void send();
        else if (underWay === 0 && windowMs === 0) void send();
        else if (underWay === 0) timer ??= setTimeout(() => void send(), windowMs);
      });
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };

  return (items, signal) =>
    items.length === 0 || items.length > size / 2 ? call(items, signal) : join(items, signal);
}
