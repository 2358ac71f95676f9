import { splitSentences } from '../../text/sentences.js';
import type { SourceBlock } from './source-blocks.js';
import { contentStems } from '../../text/question-terms.js';
import type { Question } from '../../text/question-terms.js';

export interface RankedSentence {
  text: string;
  source: number;
  /** 0 to about 1.2; see `rankSentences`. */
  score: number;
  /** Part of the question's weight that the sentence and what stands around it cover, 0 to 1. */
  coverage: number;
}

interface Candidate {
  text: string;
  source: number;
  stems: ReadonlySet<string>;
  /** Stems of the heading line, and of the sentences beside it. */
  heading: ReadonlySet<string>;
  around: ReadonlySet<string>;
}

/** A match by a long common beginning (`explos`, `explosion`) counts, but less than the same stem. */
const PREFIX_LENGTH = 5;
const PREFIX_MATCH = 0.8;
/** A word found only in the heading or in a neighbouring sentence: the sentence may well speak of it. */
const HEADING_MATCH = 0.5;
const AROUND_MATCH = 0.35;
/** What the search thought of a source: the first gets the whole bonus, the N-th an N-th of it. */
const RANK_BONUS = 0.1;
/**
 * Added to each term's idf. A handful of sentences is a poor sample: by idf alone one word that none of them holds
 * would outweigh all those that one does.
 */
const IDF_FLOOR = 2;
/** Part of the score that is the share of distinct terms, whatever their weight. */
const DISTINCT_SHARE = 0.25;
const NUMBER_BONUS = 0.1;
/** A fragment of fewer content words than this says little by itself and counts half. */
const SHORT = 4;

/** Lines that are headings or table rules give context, not answers. */
const HEADING_LINE = /^#{1,6}\s.*$/gm;
const NO_ANSWER = /^#{1,6}\s|^[\s|:=_*-]+$/;

/** `10 h. Les retards`: the splitter takes a single letter for an initial, which after a number it is not. */
const AFTER_UNIT = /(?<=\p{N}\s?\p{Ll}\.)\s+(?=\p{Lu})/u;

function candidatesIn({ number, heading, text }: SourceBlock): Candidate[] {
  const headingStems = new Set(contentStems(heading));
  const sentences = text
    .replace(HEADING_LINE, '\n$&\n')
    .split(/\n\s*\n/)
    .flatMap((paragraph) => splitSentences(paragraph))
    .flatMap((sentence) => sentence.split(AFTER_UNIT))
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => sentence !== '');
  const stems = sentences.map(contentStems);
  return sentences.flatMap((sentence, index) => {
    if (NO_ANSWER.test(sentence)) return [];
    const around = new Set([...(stems[index - 1] ?? []), ...(stems[index + 1] ?? [])]);
    return [{ text: sentence, source: number, stems: new Set(stems[index]), heading: headingStems, around }];
  });
}

function matchIn(term: string, stems: ReadonlySet<string>): number {
  if (stems.has(term)) return 1;
  if (term.length < PREFIX_LENGTH) return 0;
  for (const stem of stems)
    if (stem.length >= PREFIX_LENGTH && (stem.startsWith(term) || term.startsWith(stem))) return PREFIX_MATCH;
  return 0;
}

/** Robertson's idf with the +1 inside the logarithm that keeps it positive, over the sentences of the prompt. */
function termWeights(terms: readonly string[], candidates: readonly Candidate[]): number[] {
  return terms.map((term) => {
    const found = candidates.filter(({ stems }) => matchIn(term, stems) > 0).length;
    return IDF_FLOOR + Math.log(1 + (candidates.length - found + 0.5) / (found + 0.5));
  });
}

/**
 * The sentences of the sources, those that answer the question best first: by the idf-weighted share of its terms that
 * they hold, the share of distinct terms, and bonuses for a number where one is asked for and for the place of the
 * source. Terms from the heading and the neighbouring sentences count in part. Repeated sentences (chunks overlap) come
 * once.
 */
export function rankSentences(sources: readonly SourceBlock[], question: Question): RankedSentence[] {
  const distinct = new Map<string, Candidate>();
  for (const candidate of sources.flatMap(candidatesIn))
    if (!distinct.has(candidate.text)) distinct.set(candidate.text, candidate);
  const candidates = [...distinct.values()];
  const weights = termWeights(question.terms, candidates);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const rank = ({ text, source, stems, heading, around }: Candidate): RankedSentence => {
    let covered = 0;
    let inside = 0;
    let distinctTerms = 0;
    question.terms.forEach((term, index) => {
      const weight = weights[index] ?? 0;
      const own = matchIn(term, stems);
      const near = Math.max(matchIn(term, heading) * HEADING_MATCH, matchIn(term, around) * AROUND_MATCH);
      inside += weight * own;
      covered += weight * Math.max(own, near);
      if (own > 0) distinctTerms++;
    });
    const coverage = total === 0 || inside === 0 ? 0 : covered / total;
    const share = question.terms.length === 0 ? 0 : distinctTerms / question.terms.length;
    const number = question.asksNumber && /\p{N}/u.test(text) ? NUMBER_BONUS : 0;
    const length = stems.size < SHORT ? 0.5 : 1;
    const score =
      (coverage * (1 - DISTINCT_SHARE) + share * DISTINCT_SHARE + number + RANK_BONUS / source) * length;
    return { text, source, score: coverage === 0 ? 0 : score, coverage };
  };
  return candidates
    .map(rank)
    .sort((a, b) => b.score - a.score || a.source - b.source || (a.text < b.text ? -1 : 1));
}
