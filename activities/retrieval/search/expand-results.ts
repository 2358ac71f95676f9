import type { FileRecord } from '../../../schemas/documents/documents.js';
import type { ChunkStore, FoundChunk } from '../../ports/chunks.js';
import type { FileStore } from '../../ports/files.js';
import { ancestorChain } from './ancestor-chain.js';
import { checkGenerations } from './generation-check.js';
import type { CheckLimits } from './generation-check.js';
import type { RelatedRequest, SearchResult } from './search-types.js';

/** However many results there are: more would be no answer but a copy of the store. */
const MAX_ADDED = 2_000;
/** Files whose chunks one search asks for: each is a request, and chains of a thousand results name the same again. */
const MAX_LISTED = 2_000;

interface ExpansionStores {
  files: Pick<FileStore, 'get' | 'getMany' | 'listRelated'>;
  chunks: Pick<ChunkStore, 'listByFile'>;
}

type AddedAs = NonNullable<SearchResult['addedAs']>;

/** Files whose chunks are asked for at once. */
const AT_ONCE = 8;

/** The first chunks of each file in turn, until there are enough; then file by file. */
async function firstChunks(
  { chunks }: ExpansionStores,
  files: readonly FileRecord[],
  limit: number,
  signal: AbortSignal | undefined,
): Promise<FoundChunk[]> {
  const chosen = files.slice(0, limit);
  const each = chosen.length === 0 ? 0 : Math.ceil(limit / chosen.length);
  const lists: FoundChunk[][] = [];
  for (let from = 0; from < chosen.length; from += AT_ONCE) {
    signal?.throwIfAborted();
    const asked = chosen
      .slice(from, from + AT_ONCE)
      .map(async ({ file_key: key, live }) =>
        live === null ? [] : chunks.listByFile(key, live.generation, each),
      );
    lists.push(...(await Promise.all(asked)));
  }
  const kept = lists.map(() => 0);
  let left = limit;
  for (let rank = 0; rank < each; rank += 1)
    for (const [index, list] of lists.entries())
      if (left > 0 && rank < list.length) {
        kept[index] = rank + 1;
        left -= 1;
      }
  return lists.flatMap((list, index) => list.slice(0, kept[index]));
}

/** Chains of one thread share their upper part: each file of it is read once. */
function rememberingGet(files: Pick<FileStore, 'get'>): FileStore['get'] {
  const asked = new Map<string, ReturnType<FileStore['get']>>();
  return (partition, fileId) => {
    const key = JSON.stringify([partition, fileId]);
    const found = asked.get(key) ?? files.get(partition, fileId);
    asked.set(key, found);
    return found;
  };
}

/**
 * What to add behind the results of a search: the first chunks of files that share a relationship id with one of them,
 * and of files above one of them in the chain of parents. Whatever held of the results (scope, live version, workspace,
 * filter) holds of these, and no chunk comes twice.
 */
export async function expandResults(
  stores: ExpansionStores,
  results: readonly SearchResult[],
  request: RelatedRequest,
  limits: CheckLimits,
  signal?: AbortSignal,
): Promise<SearchResult[]> {
  const { maxAncestorDepth = Infinity } = request;
  const relatedLimit = Math.min(request.relatedLimit, MAX_ADDED);
  const present = new Set(results.map(({ chunk }) => chunk.chunk_id));
  const foundFiles = new Map(results.map(({ file }) => [file.file_key, file]));
  const added: SearchResult[] = [];
  let listed = 0;
  const isFull = (): boolean => added.length >= MAX_ADDED || listed >= MAX_LISTED;

  const add = async (files: readonly FileRecord[], addedAs: AddedAs, most = relatedLimit): Promise<void> => {
    const room = Math.min(most, MAX_ADDED - added.length, MAX_LISTED - listed);
    listed += Math.min(files.length, room);
    const found = await firstChunks(stores, files, room, signal);
    const fresh = found.filter(({ chunk_id: id }) => !present.has(id));
    // Read again: between the record and its chunks a version may have been replaced.
    const { legs } = await checkGenerations(
      { added: fresh.map((chunk) => ({ chunk, score: 0 })) },
      stores.files,
      limits,
    );
    for (const hit of legs.added) {
      present.add(hit.chunk.chunk_id);
      added.push({ ...hit, vectorScore: null, lexicalScore: null, addedAs });
    }
  };

  if (relatedLimit === 0) return [];
  if (request.includeRelated) {
    const groups = new Map<string, { partition: string; relationshipId: string }>();
    for (const { file, version } of results)
      if (version.relationship_id !== null)
        groups.set(JSON.stringify([file.partition, version.relationship_id]), {
          partition: file.partition,
          relationshipId: version.relationship_id,
        });
    for (const { partition, relationshipId } of groups.values()) {
      // Page by page until enough is added: filter and workspace are looked at behind the list.
      let wanted = relatedLimit;
      let after: string | undefined;
      while (!isFull() && wanted > 0) {
        const limit = wanted + foundFiles.size;
        const page = await stores.files.listRelated(limits.scope, partition, relationshipId, {
          limit,
          after,
        });
        const others = page.filter(({ file_key: key }) => !foundFiles.has(key)).slice(0, wanted);
        const before = added.length;
        await add(others, 'related', wanted);
        wanted -= added.length - before;
        after = others.at(-1)?.file_id;
        if (page.length < limit || after === undefined) break;
      }
    }
  }
  if (request.includeAncestors) {
    const get = rememberingGet(stores.files);
    for (const file of foundFiles.values()) {
      if (isFull()) break;
      // Each file above gives a chunk at least, so a longer chain would add nothing.
      const most = Math.min(maxAncestorDepth, relatedLimit);
      const chain = await ancestorChain({ get }, file, { most, signal });
      await add(chain.slice(1), 'ancestor');
    }
  }
  return added;
}
