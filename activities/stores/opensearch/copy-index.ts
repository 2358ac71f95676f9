import type { ChunkIndexes, CopiedPage } from '../../ports/migrations.js';
import { generationsOf, hasSameChunks } from './compare-chunks.js';
import type { OpenSearchClient } from './connect-opensearch.js';
import { deleteChunks } from './delete-chunks.js';
import { assertMapping, chunkMapping, vectorProperties } from './mapping.js';
import { ofGeneration } from './of-generation.js';
import type { IndexReader, MappingAnswer } from './read-indexes.js';
import { reindexChunks, reindexWrites } from './reindex-chunks.js';
import { nextPage, readActivity } from './writes-reached.js';

/** Brings one index up to date with another that is written to meanwhile. */
export function createIndexCopier(
  client: OpenSearchClient,
  { mappings, shardsOf, vectorFields }: IndexReader,
): Pick<ChunkIndexes, 'copy' | 'align'> {
  const shardsOfBoth = async (pair: { source: string; target: string }) => {
    const [source, target] = await Promise.all([shardsOf(pair.source), shardsOf(pair.target)]);
    return { source, target };
  };

  /** An embedder may have come since the target was made, or a release that has another field. */
  const addNewFields = async (source: string, target: string): Promise<void> => {
    const [vectors, [from], [to]] = await Promise.all([
      vectorFields(source),
      mappings(source).then(Object.values<MappingAnswer[string]>),
      mappings(target).then(Object.values<MappingAnswer[string]>),
    ]);
    const present = to?.mappings.properties ?? {};
    const wanted = {
      ...chunkMapping.properties,
      ...vectorProperties(vectors),
    };
    const missing = Object.entries(wanted).filter(
      ([name]) => Object.hasOwn(from?.mappings.properties ?? {}, name) && !Object.hasOwn(present, name),
    );
    if (missing.length === 0) return;
    const properties = Object.fromEntries(missing);
    assertMapping({ properties });
    await client.request('PUT', `/${target}/_mapping`, { body: { properties } });
  };

  return {
    async copy({ source, target, after, size }, given): Promise<CopiedPage> {
      // Read before the refresh: every write up to here is over, and what follows shows it.
      const shards = await shardsOfBoth({ source, target });
      const { writes: known, searches } = await readActivity(client, source, shards.source);
      const { pages, reached } = nextPage(after, known, size);
      if (pages.length === 0) return { after: reached, copied: 0, complete: true, searches };
      await client.request('POST', `/${source}/_refresh`);
      if (given.fields === undefined) await addNewFields(source, target);
      return {
        after: reached,
        copied: await reindexWrites(client, { source, target, pages, shards }, given),
        complete: reached.every((at, shard) => at >= known[shard]!),
        searches,
      };
    },

    async align({ source, target }, given) {
      const [wanted, present] = [await generationsOf(client, source), await generationsOf(client, target)];
      const shards = await shardsOfBoth({ source, target });
      // A file that came since the last page was copied may have vectors of an embedder that came with it.
      if (given.fields === undefined) await addNewFields(source, target);
      let [written, deleted] = [0, 0];
      for (const [key, own] of present) {
        const expected = wanted.get(key);
        if (expected !== undefined && (await hasSameChunks(client, [source, expected], [target, own])))
          continue;
        given.signal.throwIfAborted();
        deleted += await deleteChunks(client, target, ofGeneration(own));
        present.delete(key);
      }
      for (const [key, expected] of wanted) {
        if (present.has(key)) continue;
        given.signal.throwIfAborted();
        const { chunks } = expected;
        const query = ofGeneration(expected);
        written += await reindexChunks(client, { source, query, target, chunks, shards }, given);
      }
      if (written > 0) await client.request('POST', `/${target}/_refresh`);
      return { written, deleted };
    },
  };
}
