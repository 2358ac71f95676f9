import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { SwapFigures } from '../../schemas/documents/embedder-swaps.js';
import type { Adapters } from '../ports/adapters.js';
import type { FoundChunk } from '../ports/chunks.js';
import type { Embedder } from '../ports/models.js';
import { firstCharacters } from '../text/sentences.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

/** Questions in a sample: with so many a share of one half is known to about ±0.1. */
const SAMPLE = 100;
const DEPTH = 10;
/** Of a chunk as much as a person asks. */
const QUESTION_CHARACTERS = 200;

type Stores = Pick<Adapters, 'chunks' | 'models'>;

/**
 * Compares two embedders over a sample of a partition's own texts as questions: the beginning of a chunk from the
 * middle of each sampled file, and which chunks stand nearest to it in the vectors of each. The same files give the
 * same sample.
 * @param options.files all live files, in an order that stays
 */
export async function measureSwap(
  stores: Stores,
  options: {
    partition: string;
    source: string;
    target: string;
    files: AsyncIterable<FileRecord>;
    total: number;
    signal: AbortSignal;
  },
): Promise<SwapFigures> {
  const { partition, source, target, signal } = options;
  const sample = await drawSample(stores.chunks, options);
  const texts = sample.map(({ text }) => questionOf(text));
  const nearestBy = async (name: string): Promise<string[][]> => {
    const embedder = await stores.models.embedder(name);
    const vectors = await embedQuestions(embedder, texts, signal);
    const found: string[][] = [];
    for (const vector of vectors) {
      const { dense } = await stores.chunks.searchHybrid({
        scope: EVERYTHING,
        partitions: [partition],
        text: '',
        vector,
        size: DEPTH,
        signal,
        vectorField: embedder.vectorField,
      });
      found.push(dense.map(({ chunk }) => chunk.chunk_id));
    }
    return found;
  };
  const [before, after] = [await nearestBy(source), await nearestBy(target)];
  const reciprocalRanks = (nearest: readonly string[][]): number[] =>
    nearest.map((ids, index) => {
      const rank = ids.indexOf(sample[index]?.chunk_id ?? '') + 1;
      return rank === 0 ? 0 : 1 / rank;
    });
  const overlaps = before.map((ids, index) => {
    const kept = new Set(after[index]);
    return ids.length === 0 ? 1 : ids.filter((id) => kept.has(id)).length / ids.length;
  });
  return {
    sampled: sample.length,
    overlap: mean(overlaps),
    known_item_before: mean(reciprocalRanks(before)),
    known_item_after: mean(reciprocalRanks(after)),
  };
}

/** To four places; 1 of nothing, which holds nothing back. */
function mean(values: readonly number[]): number {
  return values.length === 0
    ? 1
    : Math.round((10_000 * values.reduce((sum, value) => sum + value, 0)) / values.length) / 10_000;
}

/** Evenly spread over the files. */
async function drawSample(
  chunks: Stores['chunks'],
  { files, total, signal }: { files: AsyncIterable<FileRecord>; total: number; signal: AbortSignal },
): Promise<FoundChunk[]> {
  const every = Math.max(1, Math.floor(total / SAMPLE));
  const ids: string[] = [];
  let index = 0;
  for await (const { file_key: fileKey, live } of files) {
    if (index % every === 0 && live !== null && live.chunk_count > 0)
      ids.push(chunkId(fileKey, live.generation, Math.floor(live.chunk_count / 2)));
    index += 1;
    if (ids.length === SAMPLE) break;
  }
  const found = await chunks.getMany(ids, signal);
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** Its first sentence, as long as it is none too short to ask by. */
function questionOf(text: string): string {
  const beginning = firstCharacters(text, QUESTION_CHARACTERS);
  const end = beginning.search(/[.!?。！？](?:\s|$)/u);
  return end < QUESTION_CHARACTERS / 4 ? beginning : beginning.slice(0, end + 1);
}

async function embedQuestions(
  embedder: Embedder,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let from = 0; from < texts.length; from += embedder.batchSize)
    vectors.push(
      ...(await embedder.embed(texts.slice(from, from + embedder.batchSize), { kind: 'query', signal })),
    );
  return vectors;
}
