import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  isBlank,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../text/json-signs.js';

/** An element of the outermost array: where it stands in the text, and how many containers deep it goes. */
export interface ScannedItem {
  start: number;
  end: number;
  depth: number;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The position behind a string's closing quote, -1 when it is not a JSON string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 0x20) return -1;
    if (code !== BACKSLASH) continue;
    at += 1;
    const escape = text.charAt(at);
    if (escape === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return -1;
      at += 4;
    } else if (escape === '' || !'"\\/bfnrt'.includes(escape)) return -1;
  }
  return -1;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function endOfNumber(text: string, start: number): number {
  const first = text[start] === '-' ? start + 1 : start;
  let at = text[first] === '0' ? first + 1 : endOfDigits(text, first);
  if (at === first) return -1;
  if (text[at] === '.') {
    const fraction = at + 1;
    at = endOfDigits(text, fraction);
    if (at === fraction) return -1;
  }
  if (text[at] === 'e' || text[at] === 'E') {
    const exponent = text[at + 1] === '+' || text[at + 1] === '-' ? at + 2 : at + 1;
    at = endOfDigits(text, exponent);
    if (at === exponent) return -1;
  }
  return at;
}

function endOfScalar(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start);
  for (const word of ['true', 'false', 'null']) if (text.startsWith(word, start)) return start + word.length;
  return endOfNumber(text, start);
}

/** One byte per open container: nesting by the million must cost no more than the text itself. */
function createStack() {
  let codes = new Uint8Array(64);
  let depth = 0;
  return {
    depth: () => depth,
    top: () => (depth === 0 ? 0 : (codes[depth - 1] ?? 0)),
    push(code: number) {
      if (depth === codes.length) {
        const larger = new Uint8Array(depth * 2);
        larger.set(codes);
        codes = larger;
      }
      codes[depth] = code;
      depth += 1;
    },
    pop() {
      depth -= 1;
    },
  };
}

type Expected = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end';

/**
 * Reads a JSON text once from left to right, building nothing: checks that it is valid by RFC 8259, and notes where
 * the elements of the outermost array begin and end. Linear in the text, and no nesting exhausts the stack.
 * @param most it ends with the element behind so many, which is the last one of its answer
 */
// eslint-disable-next-line complexity -- a scanner: one branch for each state and byte
export function scanJsonArray(text: string, most = Infinity): ScannedItem[] | 'not-json' | 'not-an-array' {
  const items: ScannedItem[] = [];
  const stack = createStack();
  let expected = 'value' as Expected;
  let isArray = false;
  let start = 0;
  let deepest = 0;
  let at = 0;

  const ended = (end: number): void => {
    expected = 'comma-or-end';
    if (isArray && stack.depth() === 1) items.push({ start, end, depth: deepest - 1 });
  };

  while (at < text.length) {
    if (items.length > most) return items;
    const code = text.charCodeAt(at);
    if (isBlank(code)) {
      at += 1;
      continue;
    }
    const depth = stack.depth();
    if (depth === 0 && expected === 'comma-or-end') return 'not-json';
    const mayEnd = expected === 'comma-or-end' || expected === 'value-or-end' || expected === 'key-or-end';
    if (mayEnd && depth > 0 && code === (stack.top() === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) {
      stack.pop();
      at += 1;
      ended(at);
    } else if (expected === 'comma-or-end') {
      if (code !== COMMA) return 'not-json';
      expected = stack.top() === OPEN_LIST ? 'value' : 'key';
      at += 1;
    } else if (expected === 'colon') {
      if (code !== COLON) return 'not-json';
      expected = 'value';
      at += 1;
    } else if (expected === 'key' || expected === 'key-or-end') {
      at = code === QUOTE ? endOfString(text, at) : -1;
      if (at === -1) return 'not-json';
      expected = 'colon';
    } else {
      if (depth === 1) [start, deepest] = [at, 1];
      if (code === OPEN_LIST || code === OPEN_OBJECT) {
        if (depth === 0) isArray = code === OPEN_LIST;
        stack.push(code);
        deepest = Math.max(deepest, depth + 1);
        expected = code === OPEN_LIST ? 'value-or-end' : 'key-or-end';
        at += 1;
      } else {
        at = endOfScalar(text, at);
        if (at === -1) return 'not-json';
        ended(at);
      }
    }
  }
  if (stack.depth() > 0 || expected !== 'comma-or-end') return 'not-json';
  return isArray ? items : 'not-an-array';
}
