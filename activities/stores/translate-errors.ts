/**
 * Wraps every method of a store so that whatever its driver throws leaves as one of our errors. One place
 * instead of a try/catch per method, so that none is forgotten.
 */
export function translateErrors<Store extends object>(
  store: Store,
  translate: (error: unknown) => unknown,
): Store {
  const wrapped: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(store))
    wrapped[name] = typeof member === 'function' ? wrap(member as Method, store, translate) : member;
  return wrapped as Store;
}

type Method = (...args: unknown[]) => unknown;

function wrap(method: Method, store: object, translate: (error: unknown) => unknown): Method {
  return (...args) => {
    const result = method.apply(store, args);
    if (result instanceof Promise)
      return result.catch((error: unknown) => {
        throw translate(error);
      });
    return isAsyncIterable(result) ? translateIteration(result, translate) : result;
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* translateIteration(items: AsyncIterable<unknown>, translate: (error: unknown) => unknown) {
  try {
    yield* items;
  } catch (error) {
    throw translate(error);
  }
}
