/**
 * Prepares a dot path (`source.ip`). Only an object's own properties are followed: never its prototype, never a
 * list's elements, never the length of a text.
 */
export const readField = (path: string): ((signal: unknown) => unknown) => {
  const keys = path.split('.');
  return (signal) => {
    let found = signal;
    for (const key of keys) {
      if (typeof found !== 'object' || found === null || Array.isArray(found)) return undefined;
      if (!Object.hasOwn(found, key)) return undefined;
      found = (found as Record<string, unknown>)[key];
    }
    return found;
  };
};
