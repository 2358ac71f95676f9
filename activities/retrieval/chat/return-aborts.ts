/**
 * A generator whose `return` and `throw` take effect at once. The language queues them behind a pending `next`,
 * so a consumer that leaves while a model thinks would leave the model running until its next word; here they
 * abort the signal that the generator's work listens to first.
 *
 * @param outer the caller's own signal, obeyed as well
 */
export const returnAborts = <Item>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => AsyncGenerator<Item, void, undefined>,
): AsyncGenerator<Item, void, undefined> => {
  const controller = new AbortController();
  const inner = start(AbortSignal.any([outer, controller.signal]));
  const leave = new Error('The consumer left.');
  const returnNow = inner.return.bind(inner);
  const throwNow = inner.throw.bind(inner);
  return Object.assign(inner, {
    return: async (value: void) => {
      controller.abort(leave);
      return returnNow(value);
    },
    throw: async (error: unknown) => {
      controller.abort(leave);
      return throwNow(error);
    },
  });
};
