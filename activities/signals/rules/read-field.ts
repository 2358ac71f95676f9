import type { Facts } from './compiled-rule.js';
import { isObject } from '../../../schemas/is-object.js';

/** More elements of nested lists than this are not looked at; real signals have a handful. */
const ELEMENTS_LIMIT = 10_000;

/** First steps that do not lead into the signal. */
const FACTS = ['geo', 'proxy'] as const;

/**
 * Prepares a dot path (`source.ip`) and answers what stands there: one value, `undefined` when there is none. A step
 * that ends in `[]` (`decisions[].type`) goes into each element of a list, so that there are as many values as
 * elements, and none where there is no list. `geo.…` and `proxy.…` read what we know ourselves, whatever the signal
 * says there.
 *
 * Only an object's own properties are followed: never its prototype, never the length of a text.
 */
export function readField(path: string): (signal: unknown, facts?: Facts) => readonly unknown[] {
  const steps = path.split('.').map((step) => {
    const each = step.endsWith('[]') && step.length > 2;
    return { key: each ? step.slice(0, -2) : step, each };
  });
  const ours = (FACTS as readonly string[]).includes(steps[0]?.key ?? '') && steps.length > 1;
  return (signal, facts) => {
    let found: unknown[] = [ours ? facts : signal];
    for (const { key, each } of steps) {
      found = found.map((value) => property(value, key));
      if (each)
        found = found
          .flatMap((value) => (Array.isArray(value) ? (value as unknown[]) : []))
          .slice(0, ELEMENTS_LIMIT);
    }
    return found;
  };
}

function property(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
