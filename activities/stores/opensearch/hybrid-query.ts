import { unitVector } from '../../models/vector-arithmetic.js';
import type { Scope } from '../../../schemas/documents/users.js';
import { foldText } from '../../text/fold-text.js';
import { languageOf } from '../../text/language-of.js';
import { isStopWord } from '../../text/stop-words.js';
import type { ChunkStore } from '../../ports/chunks.js';
import { headsOnly } from './chunk-document.js';
import { countClauses, filterQuery } from './filter-query.js';
import { identifiersIn } from './identifiers.js';
import { clauseQuery } from './term-weights.js';
import type { TermStatistics, WordClause } from './term-weights.js';

type WordsRequest = Parameters<ChunkStore['searchWords']>[0];
type HybridRequest = Omit<Parameters<ChunkStore['searchHybrid']>[0], 'lexical'>;

/** The group of the engine's statistics that searches of people and models are counted in. */
export const SEARCHES = 'searches';

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
 * exact words at 0.5 as well 0.398 / 0.823. The weights were chosen by looking at all questions of both sets.
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
const TERM = /[\p{Script=Han}\p{Script=Hiragana}]|[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)?/gu;
/** The engine cuts longer words into several. */
const MAX_TERM_LENGTH = 100;

/** The engine's bound on one `terms` query is 65,536. */
const MAX_KEYS = 50_000;

/**
 * The words of a question that the engine takes: the first distinct ones, each as often as it stands there. A word said
 * five times weighs five times, also in a question of many. Null when nothing is left to search.
 */
function lexicalText(text: string, maxTerms: number): string | null {
  if (text.trim() === '') return null;
  if (text.length <= maxTerms) return text;
  const distinct = new Set<string>();
  const kept: string[] = [];
  for (const [term] of text.matchAll(TERM)) {
    const word = term.slice(0, MAX_TERM_LENGTH);
    const name = word.toLowerCase();
    if (!distinct.has(name)) {
      if (distinct.size >= maxTerms) continue;
      distinct.add(name);
    }
    kept.push(word);
  }
  return kept.length === 0 ? null : kept.join(' ');
}

/**
 * The partitions a request may see: what it asks for, cut down to its scope. The caller has checked already; this
 * is the second lock on the same door. `null` means all of them, without a filter.
 */
function visiblePartitions(scope: Scope, asked: readonly string[] | 'all'): string[] | null {
  if (scope.kind === 'all') return asked === 'all' ? null : [...asked];
  const allowed = Object.keys(scope.roles);
  return asked === 'all' ? allowed : asked.filter((partition) => Object.hasOwn(scope.roles, partition));
}

function seesNothing(request: WordsRequest): boolean {
  const partitions = visiblePartitions(request.scope, request.partitions);
  return partitions?.length === 0 || request.fileKeys?.length === 0 || request.size < 1;
}

function filterClauses(
  partitions: readonly string[] | null,
  { fileKey, fileKeys, filter, withoutGenerations: without = [] }: WordsRequest,
): object[] {
  return [
    { term: { published: true } },
    ...(partitions === null ? [] : [{ terms: { partition: partitions } }]),
    ...(fileKey === undefined ? [] : [{ term: { file_key: fileKey } }]),
    ...(fileKeys === undefined ? [] : [anyOfFiles(fileKeys)]),
    ...(filter === undefined ? [] : [filterQuery(filter)]),
    ...(without.length === 0 ? [] : [{ bool: { must_not: [{ terms: { generation: without } }] } }]),
  ];
}

function anyOfFiles(keys: readonly string[]): object {
  const lists = [];
  for (let from = 0; from < keys.length; from += MAX_KEYS)
    lists.push({ terms: { file_key: keys.slice(from, from + MAX_KEYS) } });
  return { bool: { should: lists, minimum_should_match: 1 } };
}

interface AskedClause extends WordClause {
  weight: number;
}

interface QuestionWords {
  /** Whose chunks are counted; null: all. */
  countedIn: readonly string[] | null;
  /** One of them must be found. */
  words: AskedClause[];
  /** What more counts where it stands together. */
  phrases: AskedClause[];
}

/** As the engine's standard tokenizer cuts (UAX #29), Han and Hiragana by the character. */
const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
const BY_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}]|[^\p{Script=Han}\p{Script=Hiragana}]+/gu;

function cutWords(text: string): string[] {
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike === true ? (segment.match(BY_CHARACTER) ?? []) : [],
  );
}

/** The distinct pairs of neighbouring words, stop words left out. */
function pairsOf(words: readonly string[]): string[] {
  const content = words.filter((word) => !isStopWord(foldText(word))).map((word) => word.toLowerCase());
  const pairs = new Set<string>();
  for (const [place, word] of content.slice(1).entries()) {
    if (pairs.size === MAX_PAIRS) break;
    if (word !== content[place]) pairs.add(`${content[place]} ${word}`);
  }
  return [...pairs];
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
  const room = Math.floor((MAX_CLAUSES - MAX_PAIRS - taken) / CLAUSES_PER_TERM);
  const text = lexicalText(request.text, Math.min(MAX_TERMS, room));
  if (text === null) return { countedIn, words: [], phrases: [] };
  const language = languageOf(request.text);
  const cut = cutWords(text);
  const words = counted(cut);
  const fields = Object.entries(language === null ? FIELDS : fieldsIn(language));
  return {
    countedIn,
    words: fields.flatMap(([field, share]) =>
      [...words].map(([word, times]) => ({ type: 'match' as const, field, word, weight: share * times })),
    ),
    phrases: [
      // The index cuts `74-B12-009` at its dashes, so that a text with the parts in another order looks alike: where
      // they stand side by side and in this order, that counts once more. Adds nothing to questions without
      // identifiers, which are 720 of the 725 of Cranfield and PIAF.
      ...identifiers.flatMap((word) =>
        IDENTIFIER_FIELDS.map((field) => ({ type: 'match_phrase' as const, field, word, weight: 1 })),
      ),
      ...pairsOf(cut).map((word) => ({
        type: 'match_phrase' as const,
        field: language === null ? 'text' : `text.${language}`,
        word,
        weight: PAIR_WEIGHT,
        slop: PAIR_SLOP,
      })),
    ],
  };
}

/** What both legs ask for, and where. */
function legShape(request: WordsRequest): { shape: object; filter: object[] } {
  return {
    shape: {
      size: request.size,
      stats: [SEARCHES],
      ...headsOnly({ traits: request.filter !== undefined }),
    },
    filter: filterClauses(visiblePartitions(request.scope, request.partitions), request),
  };
}

/** Null: no word of the question stands anywhere. */
export function lexicalQuery(
  request: WordsRequest,
  words: QuestionWords,
  statistics: TermStatistics,
): object | null {
  const { shape, filter } = legShape(request);
  const weighed = (clauses: readonly AskedClause[]): object[] =>
    clauses.flatMap((clause) => {
      const holding = statistics.holding(clause);
      return holding === 0 ? [] : [clauseQuery(clause, clause.weight * rarity(holding, statistics.chunks))];
    });
  const should = weighed(words.words);
  if (should.length === 0) return null;
  return {
    ...shape,
    query: {
      bool: {
        must: [{ bool: { should, minimum_should_match: 1 } }],
        should: weighed(words.phrases),
        filter,
      },
    },
  };
}

/** BM25's inverse document frequency, as Lucene has it. */
function rarity(holding: number, chunks: number): number {
  return Math.log(1 + (chunks - holding + 0.5) / (holding + 0.5));
}

/**
 * Compares every vector within the filter. The graph of the field is shared by all tenants, so which of the nearest a
 * walk through it misses would depend on others. The cosine of vectors of unknown length takes twice the time of a
 * product. Null: there is nothing to compare.
 * @param options.unit whether all vectors of the field have length 1
 */
export function denseQuery(
  { vector, vectorField, ...request }: HybridRequest,
  { unit }: { unit: boolean },
): object | null {
  // A zero vector has no direction: cosine is undefined and the engine refuses it.
  if (seesNothing(request) || vector.every((value) => value === 0)) return null;
  const { shape, filter } = legShape(request);
  return {
    ...shape,
    query: {
      script_score: {
        query: { bool: { filter: [...filter, { exists: { field: vectorField } }] } },
        script: {
          lang: 'knn',
          source: 'knn_score',
          params: {
            field: vectorField,
            query_value: unit ? unitVector(vector) : vector,
            space_type: unit ? 'innerproduct' : 'cosinesimil',
          },
        },
      },
    },
  };
}

/** Lucene shifts cosine to (1 + cos) / 2 since its scores may not be negative. */
export function cosineOf(score: number): number {
  return Math.max(-1, Math.min(1, 2 * score - 1));
}

/** The engine's scores of products may not be negative either: 1 + p from 0 on, 1 / (1 - p) below. */
export function cosineOfProduct(score: number): number {
  return Math.max(-1, Math.min(1, score >= 1 ? score - 1 : 1 - 1 / score));
}
