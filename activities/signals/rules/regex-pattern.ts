import { RE2JS } from 're2js';

/** Longer patterns match nothing (proxy spec, section 3.2). */
export const PATTERN_LENGTH_LIMIT = 500;

/** Steps of the compiled program. Counted repetitions multiply: 500 characters can ask for 16,000 steps. */
const PROGRAM_SIZE_LIMIT = 1_000;

/**
 * Only so much of a text is looked at. Time grows with program times text, so that the two limits together keep
 * the worst match at a few hundred milliseconds. Texts of real signals are some hundred characters long.
 */
export const TEXT_LENGTH_LIMIT = 8_192;

/**
 * Prepares an unanchored pattern without flags, RE2 semantics: time is linear in the text whatever the pattern.
 * Answers what is wrong with it as a text when it cannot be used (look-around and back-references among others).
 */
export function regexPattern(pattern: string): ((text: string) => boolean) | string {
  if (pattern.length > PATTERN_LENGTH_LIMIT) return `is longer than ${PATTERN_LENGTH_LIMIT} characters`;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    return `is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (compiled.programSize() > PROGRAM_SIZE_LIMIT) return 'is too complex: repetitions multiply';
  return (text) => compiled.test(text.slice(0, TEXT_LENGTH_LIMIT));
}
