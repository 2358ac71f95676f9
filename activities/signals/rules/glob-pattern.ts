import { Minimatch } from 'minimatch';
import { RE2JS } from 're2js';
import { PATTERN_LENGTH_LIMIT } from './regex-pattern.js';

/** Alternatives that braces may expand to, and path segments over all of them. */
const ALTERNATIVES_LIMIT = 100;
const SEGMENTS_LIMIT = 500;
/** Only so much of a text is looked at. */
const TEXT_LENGTH_LIMIT = 2_048;

type Segment = '**' | ((part: string) => boolean);

/** What minimatch puts in front of a segment's expression, so that a star does not match a leading dot. */
const NO_DOT = '(?!\\.)';
const NO_DOT_DIRECTORY = '(?!(?:^|\\/)\\.\\.?(?:$|\\/))';

/** minimatch's expression of one segment, on an engine that does not backtrack. @throws when RE2 lacks a construct */
function compileSegment(source: string): Segment {
  const body = source.slice(1);
  const guard = [NO_DOT, NO_DOT_DIRECTORY].find((prefix) => body.startsWith(prefix)) ?? '';
  const compiled = RE2JS.compile(`^${body.slice(guard.length)}`);
  return (part) => {
    if (guard === NO_DOT && part.startsWith('.')) return false;
    if (guard === NO_DOT_DIRECTORY && (part === '.' || part === '..')) return false;
    return compiled.test(part);
  };
}

/**
 * Walks the pattern with every position in the text that is still possible, so that stars cannot multiply.
 * The rules are those of minimatch's `matchOne`, which the tests compare it with.
 */
function matches(pattern: readonly Segment[], parts: readonly string[]): boolean {
  const end = parts.length;
  let reached: boolean[] = [true];
  for (const [index, segment] of pattern.entries()) {
    const next = Array<boolean>(end + 1).fill(false);
    for (const [position, part] of parts.entries())
      next[position + 1] =
        segment === '**'
          ? (reached[position] === true || next[position] === true) && !part.startsWith('.')
          : reached[position] === true && segment(part);
    // Two stars may stand for nothing at all, but not at the end: `a/**` is not `a`.
    if (segment === '**' && index < pattern.length - 1)
      for (const [position, was] of reached.entries()) if (was) next[position] = true;
    reached = next;
  }
  return reached[end] === true || (reached[end - 1] === true && parts[end - 1] === '');
}

/**
 * Prepares a pattern by minimatch's rules (a star does not cross a slash; `**`, `?`, classes, braces and a leading
 * `!` work). minimatch only reads the pattern; matching is linear. Answers what is wrong as a text otherwise.
 */
export function globPattern(pattern: string): ((text: string) => boolean) | string {
  if (pattern.length > PATTERN_LENGTH_LIMIT) return `is longer than ${PATTERN_LENGTH_LIMIT} characters`;
  try {
    const parsed = new Minimatch(pattern, { platform: 'linux', braceExpandMax: ALTERNATIVES_LIMIT + 1 });
    if (parsed.comment) return 'starts with #, which makes it a comment that matches nothing';
    if (parsed.empty) return (text) => text === '';
    if (parsed.set.length > ALTERNATIVES_LIMIT || parsed.set.flat().length > SEGMENTS_LIMIT)
      return 'is too complex: its braces expand to too many alternatives';
    const alternatives = parsed.set.map((parts) =>
      parts.map((part): Segment => {
        if (typeof part === 'symbol') return '**';
        return typeof part === 'string' ? (text) => text === part : compileSegment(part.source);
      }),
    );
    return (text) => {
      const parts = text.slice(0, TEXT_LENGTH_LIMIT).split(/\/+/);
      return alternatives.some((alternative) => matches(alternative, parts)) !== parsed.negate;
    };
  } catch {
    return 'uses an extended glob that cannot be matched in linear time';
  }
}
