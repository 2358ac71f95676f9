import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import type { Chunk } from '../../schemas/documents/documents.js';
import type { Adapters } from '../ports/adapters.js';
import type { Embedder } from '../ports/models.js';
import { UNMEASURED } from '../ports/meter.js';
import type { Meter } from '../ports/meter.js';
import type { ReadingFacts, TaskProgress } from '../ports/tasks.js';
import { embedTexts } from './embed-texts.js';
import { embeddedText } from './embedded-text.js';
import type { Publish, Published } from './publish-version.js';
import type { DocumentRef } from './task-ref.js';
import { timed } from './timed.js';
import { storedChunk } from './version-chunks.js';

/** A stage that is over sooner is not noted: no reader would see it, and a note is a write of the record. */
const SHOWN_AFTER_MS = 1000;

interface ReadDocument {
  ref: DocumentRef;
  /** As it is by now, with what reading came to. */
  task: TaskRecord;
  facts: ReadingFacts;
  /** Read after the document was admitted. */
  partition: PartitionRecord;
  chunks: readonly Chunk[];
  embedder: Embedder;
  attempt: number;
  signal: AbortSignal;
}

/** How far a document came. `stored`: only publishing is left to be done. */
export interface Advanced {
  stored: boolean;
  published?: Published;
}

export type IndexAtOnce = (document: ReadDocument) => Promise<Advanced>;

/**
 * Embeds, stores and publishes a document that was just read, while its few chunks are in memory: a step of its own,
 * and the list of chunks that it would read, cost a small document more than its embedding. It never fails: what stands
 * in its way is met again by the step that is left, which is repeated for as long as that takes.
 */
export function createIndexAtOnce(
  { tasks, chunks }: Pick<Adapters, 'tasks' | 'chunks'>,
  publish: Publish,
  meter: Pick<Meter, 'stageTook'> = UNMEASURED,
): IndexAtOnce {
  const shown = async <T>(taskId: string, progress: TaskProgress, work: Promise<T>): Promise<T> => {
    const note = setTimeout(() => void tasks.report(taskId, progress).catch(() => undefined), SHOWN_AFTER_MS);
    try {
      return await work;
    } finally {
      clearTimeout(note);
    }
  };

  const store = async (document: ReadDocument): Promise<void> => {
    const { ref, task, embedder, attempt, signal } = document;
    const { vectorField, dimension } = embedder;
    const texts = document.chunks.map((chunk) => embeddedText(chunk, null));
    const embed = async (): Promise<number[][]> => {
      await chunks.ensureField({ vectorField, dimension });
      return timed(meter, 'embed', () => embedTexts(embedder, texts, signal));
    };
    const vectors = await shown(ref.taskId, { stage: 'embed', progress: 0.3, attempt }, embed());
    const facts = { total: texts.length, published: true };
    const entries = document.chunks.map((chunk, index) => ({
      chunk: storedChunk(task, chunk, facts),
      vector: vectors[index]!,
    }));
    await timed(meter, 'store', () => chunks.put(entries, vectorField, signal));
  };

  return async (document) => {
    const { ref, task, facts, partition, attempt, signal } = document;
    const chunkCount = document.chunks.length;
    let stored = false;
    try {
      await store(document);
      stored = true;
      // An attempt before may have left a list of chunks, which is looked for then.
      const read = attempt === 1 ? { task, facts, partition } : undefined;
      const published = await shown(
        ref.taskId,
        { stage: 'publish', progress: 0.95 },
        publish(ref, chunkCount, { signal, isMarked: true, ...(read && { read }) }),
      );
      return { stored, published };
    } catch {
      signal.throwIfAborted();
      return { stored };
    }
  };
}
