import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../text/json-signs.js';

function opens(code: number): boolean {
  return code === OPEN_LIST || code === OPEN_OBJECT;
}

function closes(code: number): boolean {
  return code === CLOSE_LIST || code === CLOSE_OBJECT;
}

function endsElement(code: number): boolean {
  return code === COMMA || code === CLOSE_LIST;
}

/** The elements of the list stand two containers deep. */
const IN_LIST = 2;

/**
 * Cuts the elements of one list out of a JSON object while its bytes come. Whether an element is JSON is for the reader
 * to find; what stands around them is checked at the end, with the list left empty there.
 * @param name of the list in the outermost object
 */
export function createListCutter(name: string) {
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  let inList = false;
  let hasElements = false;
  /** The string that was read last of those of the outermost object: the key of what follows. */
  let key = '';
  let around = '';
  let element: Buffer[] = [];
  let found: Buffer[] = [];

  const readString = (code: number): void => {
    if (isEscaped) isEscaped = false;
    else if (code === BACKSLASH) isEscaped = true;
    else if (code === QUOTE) inString = false;
    if (inString && depth === 1 && key.length <= name.length) key += String.fromCharCode(code);
  };

  const endElement = (isLast: boolean): void => {
    const text = Buffer.concat(element);
    element = [];
    const isBlank = text.every((code) => code <= 0x20);
    if (isBlank && !(isLast && !hasElements)) throw new SyntaxError('an element is missing');
    if (!isBlank) found.push(text);
    hasElements = !isLast;
  };

  const keep = (part: Buffer): void => {
    if (inList) element.push(part);
    else around += part.toString('latin1');
  };

  return {
    /** Elements that end in this chunk. @throws SyntaxError */
    take(chunk: Buffer): Buffer[] {
      found = [];
      let from = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const code = chunk[at]!;
        if (inString) {
          readString(code);
        } else if (code === QUOTE) {
          inString = true;
          if (depth === 1) key = '';
        } else if (opens(code)) {
          depth += 1;
          if (depth !== IN_LIST || code !== OPEN_LIST || key !== name) continue;
          keep(chunk.subarray(from, at + 1));
          [inList, from] = [true, at + 1];
        } else if (inList && depth === IN_LIST && endsElement(code)) {
          keep(chunk.subarray(from, at));
          endElement(code === CLOSE_LIST);
          from = at + 1;
          if (code === COMMA) continue;
          [inList, from] = [false, at];
          depth -= 1;
        } else if (closes(code)) {
          depth -= 1;
        }
      }
      keep(chunk.subarray(from));
      return found;
    },
    /** Whether the answer was an object with that list. @throws SyntaxError */
    end(): boolean {
      const whole: unknown = JSON.parse(around);
      return Array.isArray((whole as Record<string, unknown> | null)?.[name]);
    },
  };
}
