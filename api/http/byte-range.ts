/** Bytes [start, end). */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * One range of a `Range` header (RFC 9110, section 14). Null, so the whole: none, more than one, another unit or one
 * that cannot be read.
 */
export function readByteRange(header: string, size: number): ByteRange | 'unsatisfiable' | null {
  // Blanks behind digits belong to them: where both may be left out, blanks alone could be shared out in many ways.
  const parts = /^\s*bytes\s*=\s*(?:(\d+)\s*)?-\s*(?:(\d+)\s*)?$/i.exec(header);
  const [first = '', last = ''] = parts?.slice(1) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - length), end: size };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size : Math.min(size, Number(last) + 1) };
}
