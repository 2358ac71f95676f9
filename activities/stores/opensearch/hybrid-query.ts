import type { Scope } from '../../../schemas/documents/users.js';
import { languageOf } from '../../text/language-of.js';
import type { ChunkStore } from '../../ports/chunks.js';
import { headsOnly } from './chunk-document.js';
import { countClauses, filterQuery } from './filter-query.js';
import { identifiersIn } from './identifiers.js';

type HybridRequest = Parameters<ChunkStore['searchHybrid']>[0];

const FILE_NAME = 'filename';
/**
 * Stemmed words weigh most, exact ones a quarter and those of the headings half as much. A question in one language is
 * not asked of the other's stems: nDCG@10 of BM25 alone on Cranfield / PIAF 0.395 / 0.818, with both stemmers always
 * 0.395 / 0.811, exact words half as much 0.396 / 0.818, stems alone 0.392 / 0.802.
 */
const fieldsIn = (language: 'en' | 'fr'): string[] => [
  ...[`text.${language}`, 'text^0.25', `heading_path.${language}^0.5`, 'heading_path^0.125', FILE_NAME],
];
/** Where the language cannot be told. */
const FIELDS = [
  ...['text.en', 'text.fr', 'text^0.5'],
  ...['heading_path.en^0.5', 'heading_path.fr^0.5', 'heading_path^0.25', FILE_NAME],
];

const IDENTIFIER_FIELDS = ['text', 'heading_path', 'filename'];

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

/** Lucene looks at k candidates only: with fewer than this its recall suffers. */
const MIN_CANDIDATES = 100;

/** The engine's bound on one `terms` query is 65,536. */
const MAX_KEYS = 50_000;

/** The query's text, cut to what the engine takes: the first distinct words. Null when nothing is left to search. */
const lexicalText = (text: string, maxTerms: number): string | null => {
  if (text.trim() === '') return null;
  if (text.length <= maxTerms) return text;
  const terms = new Set<string>();
  for (const [term] of text.matchAll(TERM)) {
    terms.add(term.slice(0, MAX_TERM_LENGTH));
    if (terms.size === maxTerms) break;
  }
  return terms.size === 0 ? null : [...terms].join(' ');
};

/**
 * The partitions a request may see: what it asks for, cut down to its scope. The caller has checked already; this
 * is the second lock on the same door. `null` means all of them, without a filter.
 */
const visiblePartitions = (scope: Scope, asked: readonly string[] | 'all'): string[] | null => {
  if (scope.kind === 'all') return asked === 'all' ? null : [...asked];
  const allowed = Object.keys(scope.roles);
  return asked === 'all' ? allowed : asked.filter((partition) => Object.hasOwn(scope.roles, partition));
};

const filterClauses = (
  partitions: readonly string[] | null,
  { fileKey, fileKeys, filter, withoutGenerations: without = [] }: HybridRequest,
): object[] => [
  { term: { published: true } },
  ...(partitions === null ? [] : [{ terms: { partition: partitions } }]),
  ...(fileKey === undefined ? [] : [{ term: { file_key: fileKey } }]),
  ...(fileKeys === undefined ? [] : [anyOfFiles(fileKeys)]),
  ...(filter === undefined ? [] : [filterQuery(filter)]),
  ...(without.length === 0 ? [] : [{ bool: { must_not: [{ terms: { generation: without } }] } }]),
];

const anyOfFiles = (keys: readonly string[]): object => {
  const lists = [];
  for (let from = 0; from < keys.length; from += MAX_KEYS)
    lists.push({ terms: { file_key: keys.slice(from, from + MAX_KEYS) } });
  return { bool: { should: lists, minimum_should_match: 1 } };
};

interface HybridQuery {
  lexical: object | null;
  dense: object | null;
}

/** Both legs of a search; a leg without anything to compare by is null and is not asked. */
export const hybridQuery = (request: HybridRequest): HybridQuery => {
  const partitions = visiblePartitions(request.scope, request.partitions);
  if (partitions?.length === 0 || request.fileKeys?.length === 0 || request.size < 1)
    return { lexical: null, dense: null };
  const filter = filterClauses(partitions, request);
  const identifiers = identifiersIn(request.text);
  const taken = countClauses(filter) + identifiers.length * IDENTIFIER_FIELDS.length;
  const room = Math.floor((MAX_CLAUSES - taken) / CLAUSES_PER_TERM);
  const text = lexicalText(request.text, Math.min(MAX_TERMS, room));
  const shape = {
    size: request.size,
    ...headsOnly({ traits: request.filter !== undefined }),
  };
  const k = Math.max(request.size, MIN_CANDIDATES);
  return {
    lexical:
      text === null
        ? null
        : {
            ...shape,
            query: {
              bool: {
                must: [matchText(text, languageOf(request.text))],
                should: identifiers.map(matchIdentifier),
                filter,
              },
            },
          },
    // A zero vector has no direction: cosine is undefined and the engine refuses it.
    dense: request.vector.every((value) => value === 0)
      ? null
      : {
          ...shape,
          query: {
            knn: {
              [request.vectorField]: {
                vector: request.vector,
                k,
                // Inside the clause: filtered afterwards, other tenants' chunks would use up the candidates.
                filter: { bool: { filter } },
                method_parameters: { ef_search: k },
              },
            },
          },
        },
  };
};

const matchText = (text: string, language: ReturnType<typeof languageOf>): object => ({
  multi_match: { query: text, fields: language === null ? FIELDS : fieldsIn(language), type: 'most_fields' },
});

/**
 * The index cuts `74-B12-009` at its dashes, so that a text with the parts in another order looks alike: where they
 * stand side by side and in this order, that counts once more. Adds nothing to questions without identifiers, which are
 * 720 of the 725 of Cranfield and PIAF.
 */
const matchIdentifier = (identifier: string): object => ({
  multi_match: { query: identifier, fields: IDENTIFIER_FIELDS, type: 'phrase' },
});

/** Lucene shifts cosine to (1 + cos) / 2 since its scores may not be negative. */
export const cosineOf = (score: number): number => Math.max(-1, Math.min(1, 2 * score - 1));
