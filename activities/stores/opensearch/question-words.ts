import { foldText } from '../../text/fold-text.js';
import { languageOf } from '../../text/language-of.js';
import { cutSingleCharacters } from '../../text/single-characters.js';
import { ENGLISH_STOP_WORDS, FRENCH_STOP_WORDS, isStopWord } from '../../text/stop-words.js';
import { countClauses } from './filter-query.js';
import { identifiersIn } from './identifiers.js';
import { filterClauses, seesNothing, visiblePartitions } from './searched-chunks.js';
import type { WordsRequest } from './searched-chunks.js';
import type { WordClause } from './term-weights.js';

/** Fields that a question's words are looked for in, and what each weighs. */
type Fields = Readonly<Record<string, number>>;

/**
 * Stemmed words weigh most, exact ones half as much, those of the headings less than a third. A question in one
 * language is not asked of the other's stems. The similarity takes every field for 120 words long (`similarity.ts`), so
 * that a word of a heading counts as one of a very short text does: headings weigh less than with a mean length of
 * their own.
 *
 * nDCG@10 of this leg on Cranfield / PIAF, worked out with these scores over the engine's tokens: 0.388 / 0.808 with
 * exact words at 0.25 and headings at 0.5; 0.392 / 0.816 with headings at 0.3; with pairs of words (`PAIR_WEIGHT`) and
 * exact words at 0.5 as well 0.398 / 0.823. The weights were chosen by looking at all questions of both sets. In the
 * store 0.401 / 0.823 with each word as rare as it is in each field, 0.400 / 0.821 as rare as its stem is in the texts;
 * 0.398 / 0.821 with pairs as rare as their rarer word; 0.402 / 0.826 without stop words (`npm run bench:words`).
 */
function fieldsIn(language: 'en' | 'fr'): Fields {
  return {
    [`text.${language}`]: 1,
    text: 0.5,
    [`heading_path.${language}`]: 0.3,
    heading_path: 0.15,
    filename: 1,
  };
}

/** Where the language cannot be told. */
const FIELDS: Fields = {
  'text.en': 1,
  'text.fr': 1,
  text: 0.5,
  'heading_path.en': 0.5,
  'heading_path.fr': 0.5,
  heading_path: 0.25,
  filename: 1,
};

const IDENTIFIER_FIELDS = ['text', 'heading_path', 'filename'];

/**
 * Neighbouring words of a question that stand together in a text say more than the two apart (Metzler, Croft: A Markov
 * Random Field Model for Term Dependencies, SIGIR 2005). Two words between them are allowed, since stop words are not
 * asked for: `loi sur l'eau` and `loi de l'eau`.
 */
const PAIR_WEIGHT = 0.2;
const PAIR_SLOP = 2;
/** The first ones of a long question. */
const MAX_PAIRS = 24;

/**
 * The engine allows 1,024 clauses in a query, counted over all fields and the filter. A term gives one clause per field
 * and two in the file name (which is cut at apostrophes): 120 terms are 960.
 */
const MAX_CLAUSES = 1024;
const CLAUSES_PER_TERM = 8;
const MAX_TERMS = 120;
/** The engine cuts longer words into several. */
const MAX_TERM_LENGTH = 100;

/**
 * The words of a question that the engine takes: the first distinct ones, each as often as it stands there. A word said
 * five times weighs five times, also in a question of many.
 */
function firstDistinct(words: readonly string[], maxTerms: number): string[] {
  const distinct = new Set<string>();
  const kept: string[] = [];
  for (const whole of words) {
    const word = whole.slice(0, MAX_TERM_LENGTH);
    const name = word.toLowerCase();
    if (!distinct.has(name)) {
      if (distinct.size >= maxTerms) continue;
      distinct.add(name);
    }
    kept.push(word);
  }
  return kept;
}

export interface AskedClause extends WordClause {
  weight: number;
  /** The clause whose chunks say how rare this one is. */
  counted: WordClause;
}

export interface WordPair extends WordClause {
  weight: number;
  /** The clauses of its words; it is taken to be as rare as the rarer one, since to count pairs takes longest. */
  of: readonly [WordClause, WordClause];
}

export interface QuestionWords {
  /** Whose chunks are counted; null: all. */
  countedIn: readonly string[] | null;
  /** One of them must be found. */
  words: AskedClause[];
  /** What more counts where its parts stand together. */
  identifiers: AskedClause[];
  /** Neighbours, which count more where they stand together. */
  pairs: WordPair[];
}

const segmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Scripts of which the segmenter cuts a run by a dictionary, where the engine's tokenizer leaves it whole. */
const UNCUT =
  /^(?:\p{Script_Extensions=Katakana}{2}|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]{2})$/u;

/**
 * What is cut at once. Each segment that V8 answers comes with a copy of the whole text: a question of a hundred
 * thousand characters would take gigabytes. No word goes over white space, and a piece ends behind a word if it can.
 */
const PIECE = /\S{1,500}(?![\p{L}\p{M}\p{N}])|\S{1,500}/gu;

/** As the engine's standard tokenizer cuts (UAX #29), Han and Hiragana by the character. */
function cutWords(text: string): string[] {
  const runs: string[][] = [];
  let end = -1;
  let before = '';
  for (const { 0: piece, index: start } of text.matchAll(PIECE))
    for (const { segment, index, isWordLike } of segmenter.segment(piece)) {
      if (isWordLike !== true) continue;
      const isRun = end === start + index && UNCUT.test(before.slice(-1) + segment.charAt(0));
      if (isRun) runs.at(-1)!.push(segment);
      else runs.push([segment]);
      before = segment;
      end = start + index + segment.length;
    }
  return runs.flatMap((run) => cutSingleCharacters(run.join('')));
}

/** The distinct pairs of neighbouring words, stop words left out. */
function pairsOf(words: readonly string[]): [string, string][] {
  const content = words.filter((word) => !isStopWord(foldText(word))).map((word) => word.toLowerCase());
  const pairs = new Map<string, [string, string]>();
  for (const [place, word] of content.slice(1).entries()) {
    if (pairs.size === MAX_PAIRS) break;
    const before = content[place]!;
    if (word !== before) pairs.set(`${before} ${word}`, [before, word]);
  }
  return [...pairs.values()];
}

/** Each distinct word with how often it stands there: a word said twice weighs twice. */
function counted(words: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const word of words) times.set(word.toLowerCase(), (times.get(word.toLowerCase()) ?? 0) + 1);
  return times;
}

/**
 * What of the question is looked for in the lexical leg, and whose chunks its words are counted in; null: nothing is to
 * be searched.
 */
export function questionWords(request: WordsRequest): QuestionWords | null {
  if (seesNothing(request)) return null;
  const partitions = visiblePartitions(request.scope, request.partitions);
  const countedIn =
    request.countedIn === undefined ? partitions : visiblePartitions(request.scope, request.countedIn);
  const identifiers = identifiersIn(request.text);
  const taken =
    countClauses(filterClauses(partitions, request)) + identifiers.length * IDENTIFIER_FIELDS.length;
  const room = Math.floor((MAX_CLAUSES - taken) / CLAUSES_PER_TERM);
  const cut = firstDistinct(cutWords(request.text), Math.min(MAX_TERMS, room));
  if (cut.length === 0) return { countedIn, words: [], identifiers: [], pairs: [] };
  const language = languageOf(request.text);
  const words = counted(cut);
  const telling = withoutStopWords(words, language);
  const fields = Object.entries(language === null ? FIELDS : fieldsIn(language));
  return {
    countedIn,
    words: fields.flatMap(([field, share]) =>
      [...(isStemmed(field) ? words : telling)].map(([word, times]) => ({
        type: 'match' as const,
        field,
        word,
        weight: share * times,
        counted: { type: 'match' as const, field: countedField(field, word, language), word },
      })),
    ),
    // The index cuts `74-B12-009` at its dashes, so that a text with the parts in another order looks alike: where they
    // stand side by side and in this order, that counts once more. Adds nothing to questions without identifiers, which
    // are 720 of the 725 of Cranfield and PIAF.
    identifiers: identifiers.flatMap((word) =>
      IDENTIFIER_FIELDS.map((field): AskedClause => {
        const clause: WordClause = { type: 'match_phrase', field, word };
        return { ...clause, weight: 1, counted: clause };
      }),
    ),
    pairs: pairsOf(cut).map((pair): WordPair => {
      const field = language === null ? 'text' : `text.${language}`;
      const [one, other] = pair.map((word): WordClause => ({ type: 'match', field, word })) as [
        WordClause,
        WordClause,
      ];
      return {
        type: 'match_phrase',
        field,
        word: pair.join(' '),
        slop: PAIR_SLOP,
        weight: PAIR_WEIGHT,
        of: [one, other],
      };
    }),
  };
}

function isStemmed(field: string): boolean {
  return field.endsWith('.en') || field.endsWith('.fr');
}

/**
 * Stop words as they stand there are in nearly every text: they say nothing, and take longest to count and to search.
 * A question of nothing else keeps them. The analyzers of stems have (shorter) lists of their own.
 */
function withoutStopWords(words: Map<string, number>, language: 'en' | 'fr' | null): Map<string, number> {
  const left = [...words].filter(([word]) => {
    const folded = foldText(word);
    if (language === null) return !isStopWord(folded);
    return !(language === 'en' ? ENGLISH_STOP_WORDS : FRENCH_STOP_WORDS).has(folded);
  });
  return left.length === 0 ? words : new Map(left);
}

/**
 * A word is as rare as its stem in the texts, wherever it is found: each clause that is counted takes time. Stop words
 * have no stem and are counted as they stand there.
 */
function countedField(field: string, word: string, language: 'en' | 'fr' | null): string {
  if (isStemmed(field)) return `text${field.slice(-3)}`;
  return language === null || isStopWord(foldText(word)) ? 'text' : `text.${language}`;
}

/** What has to be counted for a question, each clause once. */
export function countedClauses({ words, identifiers }: QuestionWords): WordClause[] {
  return [
    ...new Map(
      [...words, ...identifiers].map(({ counted: clause }) => [JSON.stringify(clause), clause]),
    ).values(),
  ];
}
