import { AppError } from '../../../schemas/app-error.js';

/** At most so much of what was found is quoted. */
const QUOTED_CHARACTERS = 40;

/**
 * A filter that cannot be used, and where it goes wrong.
 * @param position of the character at fault, from 1
 */
export function invalidFilter(position: number, expected: string, found: string): AppError {
  return new AppError(
    'INVALID_FILTER',
    `The filter is not valid at character ${position}: expected ${expected}, found ${found.slice(0, QUOTED_CHARACTERS)}`,
    { details: { position, expected } },
  );
}

/** `at`: place of the first character, from 1. */
export type Token = { readonly at: number } & (
  | { readonly kind: 'name'; readonly name: string }
  /** `segments`: the text cut at each `%` that is not written `\%`. */
  | { readonly kind: 'text'; readonly value: string; readonly segments: readonly string[] }
  | { readonly kind: 'number'; readonly digits: string }
  | { readonly kind: 'sign'; readonly sign: string }
  | { readonly kind: 'end' }
);

const NAME_START = /[\p{L}_$]/u;
/** A dash within a name is part of it: metadata keys have them, and there is no arithmetic. */
const NAME = /[\p{L}_$][\p{L}\p{M}\p{N}_$-]*(?:\.[\p{L}\p{N}_$][\p{L}\p{M}\p{N}_$-]*)*/uy;
const NUMBER = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y;
const SIGN = /==|!=|<=|>=|[<>()[\],]/y;
const SPACE = /\s*/y;

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  '"': '"',
  "'": "'",
  '%': '%',
  n: '\n',
  t: '\t',
  r: '\r',
};

function matchAt(pattern: RegExp, text: string, place: number): string {
  pattern.lastIndex = place;
  return pattern.exec(text)?.[0] ?? '';
}

/** Reads from behind the opening quote; answers the place behind the closing one. */
function readText(filter: string, start: number): { token: Token; end: number } {
  const quote = filter[start];
  const segments: string[] = [''];
  const add = (text: string): void => {
    segments.push(`${segments.pop() ?? ''}${text}`);
  };
  let value = '';
  for (let place = start + 1; place < filter.length; place += 1) {
    const character = filter[place] ?? '';
    if (character === quote)
      return { token: { kind: 'text', at: start + 1, value, segments }, end: place + 1 };
    if (character === '%') {
      segments.push('');
      value += '%';
      continue;
    }
    let meant = character;
    if (character === '\\') {
      place += 1;
      const escaped = ESCAPES[filter[place] ?? ''];
      if (escaped === undefined)
        throw invalidFilter(place, 'one of \\\\ \\" \\\' \\% \\n \\t \\r', `\\${filter[place] ?? ''}`);
      meant = escaped;
    }
    value += meant;
    add(meant);
  }
  throw invalidFilter(filter.length + 1, `a closing ${quote}`, 'the end');
}

/**
 * Cuts a filter into its words and signs; the last token is the end.
 * @throws AppError INVALID_FILTER
 */
export function tokenize(filter: string): Token[] {
  const tokens: Token[] = [];
  for (let place = matchAt(SPACE, filter, 0).length; place < filter.length;) {
    const at = place + 1;
    const character = filter[place] ?? '';
    if (character === '"' || character === "'") {
      const { token, end } = readText(filter, place);
      tokens.push(token);
      place = end;
    } else {
      const name = matchAt(NAME, filter, place);
      const digits = name === '' ? matchAt(NUMBER, filter, place) : '';
      const sign = name === '' && digits === '' ? matchAt(SIGN, filter, place) : '';
      if (name !== '') tokens.push({ kind: 'name', at, name });
      else if (digits !== '') tokens.push({ kind: 'number', at, digits });
      else if (sign !== '') tokens.push({ kind: 'sign', at, sign });
      else throw invalidFilter(at, 'a field, a value or an operator', character);
      place += (name + digits + sign).length;
      if (digits !== '' && NAME_START.test(filter[place] ?? ''))
        throw invalidFilter(place + 1, 'the end of the number', filter[place] ?? '');
    }
    place += matchAt(SPACE, filter, place).length;
  }
  tokens.push({ kind: 'end', at: filter.length + 1 });
  return tokens;
}
