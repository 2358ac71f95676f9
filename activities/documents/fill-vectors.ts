import type { Adapters } from '../ports/adapters.js';
import type { FoundChunk, HeldChunk } from '../ports/chunks.js';
import { countTokens } from '../text/token-count.js';
import { embedTexts } from './embed-texts.js';
import { embeddedText } from './embedded-text.js';

export interface Filled {
  embedded: number;
  /** Of those, the ones that are longer than the embedder takes; it embeds them in parts. */
  overWindow: number;
}

/**
 * Gives the published chunks of some generations, those that have none in the embedder's field, a vector there, and
 * waits until searches see them. Repeating it does nothing; other vectors stay.
 * @param options.contextOf what a model said of a chunk that does not hold it: the release before wrote it
 * @throws AppError of the chunk store and the embedder, as their ports say; MODEL_ENDPOINT_NOT_FOUND
 */
export async function fillVectors(
  { chunks, models }: Pick<Adapters, 'chunks' | 'models'>,
  options: {
    generations: readonly number[];
    embedder: string;
    contextOf?: (position: number) => Promise<string | null>;
    signal: AbortSignal;
  },
): Promise<Filled> {
  const { generations, contextOf, signal } = options;
  const embedder = await models.embedder(options.embedder);
  const { vectorField, dimension, batchSize, maxInputTokens } = embedder;
  await chunks.ensureField({ vectorField, dimension });
  const filled: Filled = { embedded: 0, overWindow: 0 };

  const fill = async (batch: readonly HeldChunk<FoundChunk>[]): Promise<void> => {
    signal.throwIfAborted();
    const texts: string[] = [];
    for (const { chunk, context } of batch) {
      const said = context ?? (await contextOf?.(chunk.position)) ?? null;
      texts.push(embeddedText({ headingPath: chunk.heading_path, text: chunk.text }, said));
    }
    const vectors = await embedTexts(embedder, texts, signal);
    const found = batch.map(({ chunk }, index) => ({
      chunkId: chunk.chunk_id,
      partition: chunk.partition,
      vector: vectors[index]!,
    }));
    await chunks.addVectors(found, vectorField, signal);
    // One of zeros is not stored: it would be found to be missing again and again.
    filled.embedded += found.filter(({ vector }) => vector.some((value) => value !== 0)).length;
    if (maxInputTokens !== null)
      filled.overWindow += texts.filter((text) => countTokens(text) > maxInputTokens).length;
  };

  let batch: HeldChunk<FoundChunk>[] = [];
  for await (const held of chunks.scanChunks(generations, { withoutVector: vectorField, signal })) {
    batch.push(held);
    if (batch.length < batchSize) continue;
    await fill(batch);
    batch = [];
  }
  if (batch.length > 0) await fill(batch);
  if (filled.embedded > 0) await chunks.show(signal);
  return filled;
}
