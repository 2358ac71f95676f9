import { connectOpenSearch } from '../../activities/stores/opensearch/connect-opensearch.js';
import type {
  OpenSearchClient,
  OpenSearchOptions,
} from '../../activities/stores/opensearch/connect-opensearch.js';
import { chunkMapping, indexSettings, vectorMapping } from '../../activities/stores/opensearch/mapping.js';
import { chunkId } from '../../schemas/documents/chunk-id.js';

export const SCHEMA_TWO_DIMENSION = 4;
/** More than a double can hold exactly, in every chunk's metadata. */
const EXACT = '9007199254740993';
const BEYOND_64_BITS = '92233720368547758070';
const BATCH = 500;

/** A direction of its own for each chunk. */
export function vectorOfChunk(number: number): number[] {
  return [1, number % 7, number % 11, (number % 13) / 4];
}

export interface SchemaTwoChunk {
  partition: string;
  file_key: string;
  generation: number;
  position: number;
}

/** Which chunk has a number: files of `chunksPerFile` chunks, the partitions in turns. */
export function schemaTwoChunk(
  number: number,
  { partitions, chunksPerFile }: { partitions: readonly string[]; chunksPerFile: number },
): SchemaTwoChunk {
  const file = Math.floor(number / chunksPerFile);
  return {
    partition: partitions[file % partitions.length]!,
    file_key: `file-${file}`,
    generation: file + 1,
    position: number % chunksPerFile,
  };
}

/**
 * An index as schema 2 had it: one vector field for all partitions, 64-bit section ids, no statement of what a word
 * weighs. Each hundredth chunk has a section id above 2⁵³, each thousandth an integer that no 64 bits hold.
 */
export async function writeSchemaTwoIndex(
  client: OpenSearchClient,
  index: string,
  given: { chunks: number; partitions: readonly string[]; chunksPerFile: number },
): Promise<void> {
  const { similarity: _ours, ...settings } = indexSettings;
  await client.request('PUT', `/${index}`, {
    body: {
      settings,
      mappings: {
        ...chunkMapping,
        _meta: { schema_version: 2 },
        properties: { ...chunkMapping.properties, vector: vectorMapping(SCHEMA_TWO_DIMENSION) },
      },
    },
  });
  for (let from = 0; from < given.chunks; from += BATCH) {
    const lines: (object | string)[] = [];
    for (let number = from; number < Math.min(from + BATCH, given.chunks); number += 1) {
      const chunk = schemaTwoChunk(number, given);
      const source = {
        ...chunk,
        file_id: chunk.file_key,
        published: true,
        text: `chunk number ${number} of the mill`,
        filename: `${chunk.file_key}.txt`,
        heading_path: ['Mills'],
        page: 1,
        chunk_type: 'text',
        section_id: 'SECTION',
        prev_section_id: null,
        next_section_id: null,
        relationship_id: null,
        parent_id: null,
        vector: vectorOfChunk(number),
        metadata: [{ key: 'big', text: EXACT, integer: 'INTEGER' }],
      };
      // Written as text: a number of JavaScript would not be exact.
      const text = JSON.stringify(source)
        .replace(
          '"SECTION"',
          number % 100 === 0 ? String(2n ** 53n + BigInt(number)) : String(chunk.position),
        )
        .replace('"INTEGER"', number % 1_000 === 0 ? BEYOND_64_BITS : EXACT);
      lines.push({ index: { _id: chunkId(chunk.file_key, chunk.generation, chunk.position) } }, text);
    }
    const { errors } = await client.request<{ errors: boolean }>('POST', `/${index}/_bulk`, { lines });
    if (errors) throw new Error('the index of schema 2 could not be written');
  }
  await client.request('POST', `/${index}/_refresh`);
}

/** A client of the engine that the tests use, or of a stack's own. */
export function openEngine(options?: OpenSearchOptions): ReturnType<typeof connectOpenSearch> {
  const url = process.env['OPENSEARCH_URL'];
  if (url === undefined) throw new Error('OPENSEARCH_URL is not set: run the tests with `npm test`');
  return connectOpenSearch(options ?? { url });
}
