import type { Scope } from '../../../schemas/documents/users.js';
import type { ChunkStore } from '../../ports/chunks.js';
import { filterQuery } from './filter-query.js';

export type WordsRequest = Parameters<ChunkStore['searchWords']>[0];

/** The engine's bound on one `terms` query is 65,536. */
const MAX_KEYS = 50_000;

/**
 * The partitions a request may see: what it asks for, cut down to its scope. The caller has checked already; this
 * is the second lock on the same door. `null` means all of them, without a filter.
 */
export function visiblePartitions(scope: Scope, asked: readonly string[] | 'all'): string[] | null {
  if (scope.kind === 'all') return asked === 'all' ? null : [...asked];
  const allowed = Object.keys(scope.roles);
  return asked === 'all' ? allowed : asked.filter((partition) => Object.hasOwn(scope.roles, partition));
}

export function seesNothing(request: WordsRequest): boolean {
  const partitions = visiblePartitions(request.scope, request.partitions);
  return partitions?.length === 0 || request.fileKeys?.length === 0 || request.size < 1;
}

export function filterClauses(
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
