import { splitSentences } from '../../text/sentences.js';
import { TITLES } from '../../retrieval/verification/read-statement.js';
import type { SourceBlock } from './source-blocks.js';
import { contentStems } from '../../text/question-terms.js';
import type { Question } from '../../text/question-terms.js';
import { agreesInTense } from './answer-tense.js';
import type { AnswerType } from './answer-type.js';
import { holdsAnswer } from './holds-answer.js';
import { agreesInDegree, saysVerb } from './question-demands.js';
import type { Demands } from './question-demands.js';

export interface RankedSentence {
  text: string;
  source: number;
  /** 0 to about 1.2; see `rankSentences`. */
  score: number;
  /** Part of the question's weight that the sentence and what stands around it cover, 0 to 1. */
  coverage: number;
  /** Whether it holds something of the kind that is asked for; null where the question does not tell. */
  fits: boolean | null;
  /** Whether it says something of what is asked about, beyond the names in the question. */
  onTopic: boolean;
  /**
   * Whether its source speaks of one of the names in the question, and of every number and place in an order, and the
   * sentence of the question's time.
   */
  agrees: boolean;
  /** Whether it says what the question demands beyond that, and has its verb, where that is known. */
  meets: boolean;
  saysVerb: boolean;
}

/** What is looked for. */
export interface Asked extends Question {
  type: AnswerType | null;
  /** By `foldApart`. */
  folded: string;
  /** Stems of the names in it. */
  names: ReadonlySet<string>;
  /** Those that name one of several: years, versions, `second`. */
  numbers: readonly string[];
  demands: Demands;
}

interface Candidate {
  text: string;
  /** The sentence before it, where it begins with a pronoun, which says nothing alone. */
  before: string | null;
  source: number;
  stems: ReadonlySet<string>;
  /** Stems of the heading line, and of the sentences beside it. */
  heading: ReadonlySet<string>;
  around: ReadonlySet<string>;
  /** Of the sentence that a pronoun at its beginning points at. */
  previous: ReadonlySet<string>;
  /** Of the whole source. */
  whole: ReadonlySet<string>;
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
const FITTING_BONUS = 0.1;
/** Of the rest of a question, so much is said by a sentence that names the thing. */
const REST_SHARE = 0.75;
/**
 * A fragment of fewer content words than this says little by itself and counts half, unless it holds what is asked
 * for, or all of the question and more.
 */
const SHORT = 4;

/** Lines that are headings or table rules give context, not answers. */
const HEADING_LINE = /^#{1,6}\s.*$/gm;
const NO_ANSWER = /^#{1,6}\s|^[\s|:=_*-]+$/;

/** What stands for something that the sentence before has named. */
const PRONOUN =
  /^(?:it|he|she|they|this|these|those|its|his|her|their|il|elle|ils|elles|ce|cela|celui-ci|celle-ci|ceux-ci|son|sa|ses|leurs?)\s/i;
const SUBJECT = /^(?:it|he|she|they|this|these|those|il|elle|ils|elles|cela|celui-ci|celle-ci|ceux-ci)\s/i;
/** What the sentence before names counts nearly as if it stood here. */
const BEFORE_PRONOUN_MATCH = 0.8;

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
  const whole = new Set([...headingStems, ...contentStems(text)]);
  return sentences.flatMap((sentence, index) => {
    if (NO_ANSWER.test(sentence)) return [];
    const around = new Set([...(stems[index - 1] ?? []), ...(stems[index + 1] ?? [])]);
    const previous = new Set(PRONOUN.test(sentence) ? stems[index - 1] : []);
    const before = SUBJECT.test(sentence) ? (sentences[index - 1] ?? null) : null;
    const own = new Set(stems[index]);
    return [
      { text: sentence, before, source: number, stems: own, heading: headingStems, around, previous, whole },
    ];
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

/** Names in part, since a source may leave out a first name; numbers altogether. */
function agreesWith({ names, numbers }: Asked, whole: ReadonlySet<string>): boolean {
  const named = names.size === 0 || [...names].some((name) => matchIn(name, whole) > 0);
  return named && numbers.every((number) => whole.has(number));
}

/**
 * Which of several things it is may be told by a word that is no name: `dark syrup`. What names the things, and says
 * the rest of such a question, tells it.
 */
function saysTheRest(
  { kind, counted }: AnswerType,
  terms: readonly string[],
  { stems, previous }: Candidate,
): boolean {
  if (kind !== 'name' || counted === null) return false;
  if (matchIn(counted, stems) === 0) return false;
  const rest = terms.filter((term) => term !== counted);
  const said = rest.filter((term) => matchIn(term, stems) > 0 || matchIn(term, previous) > 0);
  return rest.length > 0 && said.length >= rest.length * REST_SHARE;
}

/** What is asked about stands in the sentence, or in what it points at; what it sets apart, in the source. */
function meetsDemands(demands: Demands, { text, stems, previous, whole }: Candidate): boolean {
  const isSaid = (stem: string): boolean => matchIn(stem, stems) > 0 || matchIn(stem, previous) > 0;
  return (
    demands.said.every((group) => group.some(isSaid)) &&
    demands.things.every((stem) => matchIn(stem, whole) > 0) &&
    agreesInDegree(demands, text)
  );
}

/** The weighted share of the terms that a sentence and what stands around it cover, and that of those it holds. */
function coverageOf(
  terms: readonly string[],
  weights: readonly number[],
  { stems, heading, around, previous }: Candidate,
): { coverage: number; share: number } {
  let covered = 0;
  let total = 0;
  let distinctTerms = 0;
  terms.forEach((term, index) => {
    const weight = weights[index] ?? 0;
    const own = Math.max(matchIn(term, stems), matchIn(term, previous) * BEFORE_PRONOUN_MATCH);
    const near = Math.max(matchIn(term, heading) * HEADING_MATCH, matchIn(term, around) * AROUND_MATCH);
    total += weight;
    covered += weight * Math.max(own, near);
    if (own > 0) distinctTerms++;
  });
  return {
    coverage: distinctTerms === 0 ? 0 : covered / total,
    share: distinctTerms / Math.max(1, terms.length),
  };
}

/** @param topics what is asked about, beyond the names */
function isOnTopic(
  type: AnswerType | null,
  fits: boolean | null,
  topics: readonly string[],
  { before, stems, previous }: Candidate,
): boolean {
  if (topics.length === 0 || (fits === true && type !== null && type.counted !== null)) return true;
  // "How heavy is it?" leaves nothing but the thing, which a pronoun may stand for.
  const isMeasured = before !== null && type !== null && type.asking.size > 0;
  return topics.some((term) => matchIn(term, stems) > 0 || (isMeasured && matchIn(term, previous) > 0));
}

/**
 * The sentences of the sources, those that answer the question best first: by the idf-weighted share of its terms that
 * they hold, the share of distinct terms, and bonuses for the kind of thing that is asked for and for the place of the
 * source. Terms from the heading and the neighbouring sentences count in part. Repeated sentences (chunks overlap) come
 * once.
 */
export function rankSentences(sources: readonly SourceBlock[], question: Asked): RankedSentence[] {
  const distinct = new Map<string, Candidate>();
  for (const candidate of sources.flatMap(candidatesIn))
    if (!distinct.has(candidate.text)) distinct.set(candidate.text, candidate);
  const candidates = [...distinct.values()];
  const { type, names } = question;
  const known = new Set(question.terms);
  const about = question.terms.filter((term) => type?.asking.has(term) !== true);
  const terms = about.length > 0 ? about : question.terms;
  const weights = termWeights(terms, candidates);
  const topics = terms.filter((term) => !names.has(term) && !TITLES.has(term));
  const rank = (candidate: Candidate): RankedSentence => {
    const { text, before, source, stems, whole } = candidate;
    const { coverage, share } = coverageOf(terms, weights, candidate);
    const fits =
      type === null || coverage === 0
        ? null
        : holdsAnswer(type, text, known) || saysTheRest(type, terms, candidate);
    const onTopic = isOnTopic(type, fits, topics, candidate);
    const agrees = agreesWith(question, whole) && agreesInTense(question.folded, text);
    const meets = meetsDemands(question.demands, candidate);
    const bonus = fits === true ? FITTING_BONUS : 0;
    const quote = before === null ? text : `${before} ${text}`;
    const addsNothing = share < 1 || [...stems].every((stem) => known.has(stem));
    const length = stems.size < SHORT && fits !== true && addsNothing ? 0.5 : 1;
    const score =
      (coverage * (1 - DISTINCT_SHARE) + share * DISTINCT_SHARE + bonus + RANK_BONUS / source) * length;
    return {
      text: quote,
      source,
      score: coverage === 0 ? 0 : score,
      coverage,
      fits,
      onTopic,
      agrees,
      meets,
      saysVerb: saysVerb(question.demands, quote),
    };
  };
  return candidates
    .map(rank)
    .sort((a, b) => b.score - a.score || a.source - b.source || (a.text < b.text ? -1 : 1));
}
