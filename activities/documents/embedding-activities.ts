import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import { countChunks, readChunkBatches } from './chunk-list.js';
import { embedTexts } from './embed-texts.js';
import { embeddedText } from './embedded-text.js';
import { embedderOf } from './embedder-of.js';
import { placeOf } from './place-of.js';
import type { DocumentRef } from './task-ref.js';
import { openContexts } from './enrichment/context-list.js';
import type { Adapters } from '../ports/adapters.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import { advanceUnpublished } from './publish-version.js';
import type { Publish, Published } from './publish-version.js';
import { storedChunk } from './version-chunks.js';

export interface EmbeddingActivityDeps {
  adapters: Pick<Adapters, 'files' | 'tasks' | 'blobs' | 'chunks' | 'models' | 'partitions'>;
  publish: Publish;
  meter?: Pick<Meter, 'stageTook'>;
}

/** How far an attempt came; the next one goes on from there. */
interface Cursor {
  stored: number;
}

/** Activities whose time is spent in an embedding model. */
export function createEmbeddingActivities(deps: EmbeddingActivityDeps) {
  const { tasks, blobs, chunks, models } = deps.adapters;
  const { meter = UNMEASURED } = deps;

  /**
   * Chunk list → vectors → vector store, batch by batch. Each stored batch moves the cursor in the heartbeat, so
   * that a retry embeds nothing twice but the batch in which it was interrupted.
   *
   * @param options.publish a document of one batch is published as well, and `published` says what came of it: a step
   *   of its own costs a small document more than its embedding
   */
  const embedDocument = async (
    ref: DocumentRef,
    options: { publish?: boolean } = {},
  ): Promise<{ stored: number; published?: Published }> => {
    const context = Context.current();
    const signal = context.cancellationSignal;
    const before = (context.info.heartbeatDetails as Cursor | undefined)?.stored ?? 0;
    const task = await advanceUnpublished(tasks, ref, { stage: 'embed', attempt: context.info.attempt });
    if (task === null) return { stored: before, published: { replaced: true } };
    const partition = await placeOf(deps.adapters, task);
    const embedder = await models.embedder(embedderOf(task, partition));
    await chunks.ensureField({ vectorField: embedder.vectorField, dimension: embedder.dimension });

    // Two batches are in work at a time, one in each stage: what counts is the sum over the document.
    const spent = { embed: 0, store: 0 };
    const within = async <T>(stage: keyof typeof spent, work: Promise<T>): Promise<T> => {
      const started = performance.now();
      try {
        return await work;
      } finally {
        spent[stage] += (performance.now() - started) / 1000;
      }
    };
    const tellSpent = (): void => {
      for (const stage of ['embed', 'store'] as const) meter.stageTook(stage, spent[stage]);
    };

    let stored = before;
    const report = async (total: number): Promise<void> => {
      context.heartbeat({ stored } satisfies Cursor);
      const goOn = await tasks.report(ref.taskId, {
        stage: 'embed',
        progress: 0.3 + 0.6 * (stored / total),
        attempt: context.info.attempt,
      });
      if (!goOn) throw new AppError('TASK_CANCELLED');
    };
    const publishAtOnce = async (total: number): Promise<Published> => {
      try {
        return await deps.publish(ref, total, { signal, isMarked: true });
      } catch (error) {
        // Tried again, this finds nothing to embed any more, and publishing is left to the step behind it.
        context.heartbeat({ stored } satisfies Cursor);
        throw error;
      }
    };

    let total: number | null = null;
    /** The batch before, which is stored while the next is embedded. */
    let storing: Promise<void> | null = null;
    const contextOf = openContexts(blobs, ref.taskId, task.context_parts ?? 0);
    const batches = readChunkBatches(blobs, ref.taskId, { skip: before, size: embedder.batchSize });
    try {
      for await (const { chunks: batch, last } of batches) {
        signal.throwIfAborted();
        total ??= last ? before + batch.length : await countChunks(blobs, ref.taskId);
        // Marking is a second write of each chunk, vector and all. What is stored in one go becomes live in a moment,
        // so it may be marked from the start: the record still decides whether it is answered. Not where an attempt
        // with smaller batches stored the beginning, which waits to be marked.
        const facts = { total, published: before === 0 && total <= embedder.batchSize };
        const contexts: (string | null)[] = [];
        for (const { position } of batch) contexts.push(await contextOf(position));
        const texts = batch.map((chunk, index) => embeddedText(chunk, contexts[index] ?? null));
        const vectors = await within('embed', embedTexts(embedder, texts, signal));
        await storing;
        const entries = batch.map((chunk, index) => ({
          chunk: storedChunk(task, chunk, facts),
          vector: vectors[index]!,
          context: contexts[index] ?? null,
        }));
        const store = async (): Promise<void> => {
          await within('store', chunks.put(entries, embedder.vectorField, signal));
          stored += entries.length;
        };
        if (facts.published && options.publish === true) {
          await store();
          tellSpent();
          return { stored, published: await publishAtOnce(total) };
        }
        const all = total;
        storing = store().then(() => report(all));
        // Told when the next batch is embedded.
        storing.catch(() => undefined);
      }
      await storing;
    } finally {
      // Nothing is written any more once the step has ended.
      await storing?.catch(() => undefined);
    }
    if (total !== null) tellSpent();
    return { stored };
  };

  return { embedDocument };
}

export type EmbeddingActivities = ReturnType<typeof createEmbeddingActivities>;
