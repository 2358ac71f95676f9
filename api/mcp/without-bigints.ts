/**
 * A value whose integers beyond a double's reach are texts: the SDK writes JSON that cannot hold them, and JavaScript
 * clients would round them. The text beside such a value has them as they are.
 */
export function withoutBigints(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? String(member) : member)),
  );
}
