import { cutFramedLines } from './framed-lines.js';
import { fits, hardCut } from './hard-cut.js';
import type { Section, SectionKind } from './section.js';
import { splitClauses, splitSentences } from '../../text/sentences.js';
import { countTokens } from '../../text/token-count.js';

/** The smallest thing the chunker moves: a sentence, a part of one that is too long, a table, a block of code. */
export interface TextUnit {
  text: string;
  /** White space that stood before it; what joins it to the unit before. */
  gap: string;
  tokens: number;
  kind: SectionKind;
  /** Tokens of the whole paragraph, on its first unit. */
  paragraphTokens?: number;
  /** Stands in a chunk of its own. */
  alone?: boolean;
  start?: number;
}

/** A sentence that takes more than a quarter of a chunk is cut, where clauses end if they do. */
const PARTS = 4;
/** In tokens; so short a sentence is cut only if the chunks are shorter still. */
const SHORT = 64;

/** Turns a section into units of at most `limit` tokens, in order and without losing a visible character. */
export function* toTextUnits(section: Section, limit: number): Generator<TextUnit> {
  if (section.kind === 'text') yield* paragraphUnits(section, limit);
  else yield* blockUnits(section, limit);
}

/** A table or block of code that is small stays with the text around it; a larger one is cut between its lines. */
function* blockUnits(section: Section, limit: number): Generator<TextUnit> {
  const text = section.text.trimEnd().replace(/^\s*\n/, '');
  if (text === '') return;
  const at = section.charStart === undefined ? {} : { start: section.charStart };
  const tokens = countTokens(text);
  if (tokens <= limit) {
    yield {
      text,
      gap: '\n\n',
      tokens,
      kind: section.kind,
      paragraphTokens: tokens,
      alone: tokens > limit / 4,
      ...at,
    };
    return;
  }
  for (const framed of cutFramedLines(text, limit)) {
    for (const fragment of hardCut(framed, limit)) {
      if (fragment.trim() === '') continue;
      yield {
        text: fragment,
        gap: '\n',
        tokens: countTokens(fragment),
        kind: section.kind,
        alone: true,
        ...at,
      };
    }
  }
}

function* paragraphUnits(section: Section, limit: number): Generator<TextUnit> {
  let first = section.continues !== true;
  for (const { text, offset } of paragraphs(section.text)) {
    const units: TextUnit[] = [];
    let at = offset;
    let gap = first ? '\n\n' : section.text.slice(0, offset);
    for (const sentence of splitSentences(text)) {
      for (const fragment of smallFragments(sentence, limit)) {
        const lead = fragment.length - fragment.trimStart().length;
        const trimmed = fragment.trim();
        gap += fragment.slice(0, lead);
        if (trimmed !== '') {
          const start = section.charStart === undefined ? {} : { start: section.charStart + at + lead };
          units.push({
            text: trimmed,
            gap: shortGap(gap),
            tokens: countTokens(trimmed),
            kind: 'text',
            ...start,
          });
          gap = fragment.slice(lead + trimmed.length);
        }
        at += fragment.length;
      }
    }
    if (units.length > 0 && first) units[0]!.paragraphTokens = units.reduce((sum, u) => sum + u.tokens, 0);
    yield* units;
    first = true;
  }
}

/**
 * A long sentence in parts: chunks are filled with them, and repeat the last ones, so a unit that takes up most of a
 * chunk leaves what stands before it (a heading) and behind it (half a line) alone. Text without capitals has no
 * sentences that a rule could see, and comes as one.
 */
function* smallFragments(sentence: string, limit: number): Generator<string> {
  const part = Math.min(limit, Math.max(SHORT, Math.ceil(limit / PARTS)));
  if (fits(sentence, part)) yield sentence;
  else for (const clause of splitClauses(sentence)) yield* hardCut(clause, part);
}

/** Splits at blank lines, by a scan (a regular expression over many blank lines can be quadratic). */
function* paragraphs(text: string): Generator<{ text: string; offset: number }> {
  let start = 0;
  for (let at = 0; at < text.length;) {
    const lineEnd = text.indexOf('\n', at);
    const end = lineEnd < 0 ? text.length : lineEnd + 1;
    if (text.slice(at, end).trim() === '') {
      if (at > start) yield { text: text.slice(start, at), offset: start };
      start = end;
    }
    at = end;
  }
  if (start < text.length) yield { text: text.slice(start), offset: start };
}

function shortGap(gap: string): string {
  if (gap.includes('\n\n')) return '\n\n';
  if (gap.length <= 8) return gap;
  return gap.includes('\n') ? '\n' : ' ';
}
