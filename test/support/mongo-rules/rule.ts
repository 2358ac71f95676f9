import type { Document } from 'mongodb';

/** What a server would refuse, by the server's own name of the error where it has one, and why. */
export interface Violation {
  error: string;
  why: string;
}

export function violation(error: string, why: string): Violation {
  return { error, why };
}

/** An embedded document, as opposed to a list, a date, bytes and everything else that is one value. */
export function isDocument(value: unknown): value is Document {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (prototype as { constructor: { name: string } }).constructor.name === 'Object';
}

/** A document that consists of operators, such as `{ $gt: 1 }`. */
export function isOperators(value: unknown): value is Document {
  return isDocument(value) && Object.keys(value).some((key) => key.startsWith('$'));
}

/** Whether one path is the other one or leads through it: no server changes or shows both at once. */
function pathsCollide(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** Every two paths that collide. */
export function collisions(paths: readonly string[]): [string, string][] {
  return paths.flatMap((one, index) =>
    paths
      .slice(index + 1)
      .flatMap((other): [string, string][] => (pathsCollide(one, other) ? [[one, other]] : [])),
  );
}

/**
 * EmptyFieldName and DollarPrefixedFieldName: what holds for the parts of each path, whether it is asked for, changed,
 * indexed or shown. Positional parts (`$`, `$[]`, `$[name]`) are for updates and projections alone.
 */
export function pathViolations(path: string, { positional = false } = {}): Violation[] {
  return path.split('.').flatMap((part, place) => {
    if (part === '') return [violation('EmptyFieldName', `"${path}" has an empty part`)];
    if (part.includes('\0')) return [violation('BadValue', `"${path}" holds a NUL`)];
    if (!part.startsWith('$') || ['$id', '$ref', '$db'].includes(part)) return [];
    if (positional && place > 0 && /^\$(\[[a-z0-9]*[A-Za-z0-9]*\])?$/.test(part)) return [];
    return [violation('DollarPrefixedFieldName', `"${path}" has a part that begins with a dollar`)];
  });
}
