/**
 * A deep copy, so that a test cannot change a fake's records behind its back. Not `structuredClone`: under Jest
 * its dates belong to another realm and are no `Date` to the test.
 */
export function copyRecord<Value>(value: Value): Value {
  if (value instanceof Date) return new Date(value.getTime()) as Value;
  if (Array.isArray(value)) return value.map(copyRecord) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copyRecord(inner)])) as Value;
}
