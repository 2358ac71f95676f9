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
  const leave = new Error('The consumer left.');
  const returnNow = inner.return.bind(inner);
  const throwNow = inner.throw.bind(inner);
  return Object.assign(inner, {
    // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- as AsyncGenerator declares it
    return: async (value: void) => {
      controller.abort(leave);
      return returnNow(value);
    },
    throw: async (error: unknown) => {
      controller.abort(leave);
      return throwNow(error);
    },
  });
}

/** Rejects when the signal aborts; never resolves. `dispose` lets go of the signal. */
export function rejectOnAbort(signal: AbortSignal): { promise: Promise<never>; dispose: () => void } {
  let dispose = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    dispose = () => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  // A race handles the rejection; between two races nothing would, and it must not count as unhandled.
  promise.catch(() => undefined);
  return { promise, dispose };
}
