/**
 * A generator whose `return` and `throw` take effect at once. The language queues them behind a pending `next`,
 * so a consumer that leaves while a model thinks would leave the model running until its next word; here they
 * abort the signal that the generator's work listens to first.
 *
 * @param outer the caller's own signal, which aborts likewise
 */
export function returnAborts<Item>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> {
  const controller = new AbortController();
  const inner = start(AbortSignal.any([outer, controller.signal]));
  // Made when it is needed: an error keeps the places of its stack.
  const leave = (): void => controller.abort(new Error('The consumer left.'));
  const returnNow = inner.return.bind(inner);
  const throwNow = inner.throw.bind(inner);
  return Object.assign(inner, {
    // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- as AsyncGenerator declares it
    return: async (value: void) => {
      leave();
      return returnNow(value);
    },
    throw: async (error: unknown) => {
      leave();
      return throwNow(error);
    },
  });
}

/** Waits for one thing after the other, and for nothing more once a signal aborts. */
export interface AbortableWaits {
  /** @throws the signal's reason at once when it aborts; the work is left alone then */
  orAbort<Result>(work: Promise<Result>): Promise<Result>;
  /** Lets go of the signal. */
  dispose(): void;
}

export function waitsUntilAbort(signal: AbortSignal): AbortableWaits {
  // Of the one that is waited for. One promise of the abort, raced against each of them, would keep all of them.
  let fail: ((reason: unknown) => void) | null = null;
  const onAbort = (): void => fail?.(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    orAbort: (work) =>
      new Promise((resolve, reject) => {
        fail = reject;
        work.then(resolve, reject);
        if (signal.aborted) onAbort();
      }),
    dispose: () => signal.removeEventListener('abort', onAbort),
  };
}
