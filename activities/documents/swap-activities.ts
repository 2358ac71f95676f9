import { Context } from '@temporalio/activity';
import { AppError } from '../../schemas/app-error.js';
import type { FileRecord } from '../../schemas/documents/documents.js';
import type { EmbedderSwapRecord, SwapFigures, SwapStart } from '../../schemas/documents/embedder-swaps.js';
import type { PartitionRecord } from '../../schemas/documents/partitions.js';
import type { Adapters } from '../ports/adapters.js';
import type { SearchService } from '../retrieval/search/search-types.js';
import { fillVectors } from './fill-vectors.js';
import { measureQuestions } from './measure-questions.js';
import { measureSwap } from './measure-swap.js';
import { EVERYTHING } from '../../schemas/documents/users.js';

export interface SwapActivityDeps {
  adapters: Pick<
    Adapters,
    'partitions' | 'files' | 'chunks' | 'models' | 'embedderSwaps' | 'questionSets' | 'presets'
  >;
  search: Pick<SearchService, 'search'>;
  /** A slice ends soon after; 5 s unless a test says otherwise. */
  sliceMs?: number;
}

type Phase = 'embedding' | 'measuring' | 'switching' | 'finishing' | 'done';

/** Where a swap stands between two slices. */
export interface SwapPosition {
  phase: Phase;
  /** The file id that the pass over the files has come to; null: a pass begins. */
  after: string | null;
  passes: number;
  /** Vectors that this pass made: one that makes none has found all of them. */
  embedded: number;
  done: number;
  total: number;
  overWindow: number;
  figures: SwapFigures | null;
}

export interface SwapSlice {
  position: SwapPosition;
  /** Why the switch is held back; null: it is not. */
  held: string | null;
}

const SLICE_MS = 5_000;
const PAGE = 50;
/** A page of long files has fewer, so that progress is noted every few seconds. */
const PAGE_CHUNKS = 256;

/**
 * Activities that move a partition to another embedder: every live version gets a vector of the new one beside that of
 * the old, a sample says what searches will make of it, and one update of the partition's record switches.
 */
export function createSwapActivities({ adapters, search, sliceMs = SLICE_MS }: SwapActivityDeps) {
  const { partitions, files, embedderSwaps: swaps } = adapters;

  /** @throws AppError PARTITION_NOT_FOUND; EMBEDDER_SWAP_NOT_RUNNING when it was ended otherwise */
  const requireSwap = async (swapId: string): Promise<EmbedderSwapRecord & { target: string }> => {
    const swap = await swaps.get(swapId);
    if (swap?.status !== 'running') throw new AppError('EMBEDDER_SWAP_NOT_RUNNING');
    const partition = await partitions.get(swap.partition);
    if (partition?.partition_key !== swap.partition_key)
      throw new AppError('PARTITION_NOT_FOUND', 'The partition was deleted.');
    return { ...swap, target: targetOf(partition, swap) };
  };

  /** Marks the partition, so that uploads get both vectors from now on. */
  const beginEmbedderSwap = async (start: SwapStart): Promise<void> => {
    await swaps.insert(start);
    const { swap_id, source_embedder: source, target_embedder: target } = start;
    const present = await partitions.get(start.partition);
    const former = present?.swap?.swap_id;
    const marked = await partitions.beginSwap(start, { swap_id, source, target });
    if (marked === null)
      throw new AppError('CONFLICT', 'The partition was deleted, or has another embedder by now.');
    // Only one is at work at a time: that one was broken off from outside.
    if (former !== undefined && former !== swap_id)
      await swaps.finish(former, {
        status: 'failed',
        error: 'It was broken off from outside.',
        code: 'EMBEDDER_SWAP_BROKEN_OFF',
      });
  };

  const pageFiles = async (
    { partition, partition_key: key }: EmbedderSwapRecord,
    after: string | null,
  ): Promise<{ page: FileRecord[]; after: string | null }> => {
    const found = await files.pageLive(partition, { after, limit: PAGE });
    let chunks = 0;
    // The first is taken whatever its length.
    const taken = found.filter(({ live }, index) => {
      chunks += live?.chunk_count ?? 0;
      return index === 0 || chunks <= PAGE_CHUNKS;
    });
    const isLast = found.length < PAGE && taken.length === found.length;
    return {
      page: taken.filter((file) => file.partition_key === key),
      after: isLast ? null : (taken.at(-1)?.file_id ?? null),
    };
  };

  /** Pages of files until the pass is through, or the slice is over. Answers whether it is through. */
  const pass = async (
    swap: EmbedderSwapRecord & { target: string },
    at: SwapPosition,
    { isOver, reached, signal }: { isOver(): boolean; reached(at: SwapPosition): void; signal: AbortSignal },
  ): Promise<{ position: SwapPosition; through: boolean }> => {
    let position = at;
    for (;;) {
      const { page, after } = await pageFiles(swap, position.after);
      const generations = page.flatMap(({ live }) => (live === null ? [] : [live.generation]));
      const { embedded, overWindow } = await fillVectors(adapters, {
        generations,
        embedder: swap.target,
        signal,
      });
      position = {
        ...position,
        after,
        embedded: position.embedded + embedded,
        overWindow: position.overWindow + overWindow,
        done: position.passes === 0 ? Math.min(position.total, position.done + page.length) : position.done,
      };
      reached(position);
      if (after === null) return { position, through: true };
      if (isOver()) return { position, through: false };
    }
  };

  async function* liveFiles(swap: EmbedderSwapRecord): AsyncGenerator<FileRecord> {
    for (let after: string | null = null; ;) {
      const next = await pageFiles(swap, after);
      yield* next.page;
      ({ after } = next);
      if (after === null) return;
    }
  }

  const measure = async (
    swap: EmbedderSwapRecord & { target: string },
    position: SwapPosition,
    signal: AbortSignal,
  ): Promise<SwapSlice> => {
    const { partition, source_embedder: source, target } = swap;
    const { total } = position;
    const sampled = await measureSwap(adapters, {
      partition,
      source,
      target,
      files: liveFiles(swap),
      total,
      signal,
    });
    const questions = await measureQuestions(adapters, search, swap, signal);
    const figures: SwapFigures = { ...sampled, questions };
    const held = whyHeld(swap, figures);
    return { position: { ...position, phase: held === null ? 'switching' : 'measuring', figures }, held };
  };

  /** The switch, once it can be repeated: this swap or an attempt before has made it. */
  const switchOver = async (swap: EmbedderSwapRecord & { target: string }): Promise<void> => {
    if (await partitions.endSwap(swap.partition, swap.swap_id, { switched: true })) return;
    const present = await partitions.get(swap.partition);
    if (present?.swapped_from.at(-1) !== swap.source_embedder)
      throw new AppError('EMBEDDER_SWAP_NOT_RUNNING');
  };

  const start = async ({ partition }: EmbedderSwapRecord): Promise<SwapPosition> => {
    const total = (await files.countLive([partition])).get(partition) ?? 0;
    return {
      phase: 'embedding',
      after: null,
      passes: 0,
      embedded: 0,
      done: 0,
      total,
      overWindow: 0,
      figures: null,
    };
  };

  const nextPass = (position: SwapPosition, phase: Phase): SwapPosition => ({
    ...position,
    phase,
    after: null,
    embedded: 0,
    passes: position.passes + 1,
  });

  const advance = async (
    swap: EmbedderSwapRecord & { target: string },
    position: SwapPosition,
    control: Parameters<typeof pass>[2],
  ): Promise<SwapSlice> => {
    const go = (next: SwapPosition): SwapSlice => ({ position: next, held: null });
    switch (position.phase) {
      case 'embedding': {
        const { position: next, through } = await pass(swap, position, control);
        if (!through) return go(next);
        // Versions that came up behind the pass: again, until there is nothing left to do.
        return go(nextPass(next, next.embedded > 0 ? 'embedding' : 'measuring'));
      }
      case 'measuring':
        return measure(swap, position, control.signal);
      case 'switching':
        await switchOver(swap);
        return go(nextPass(position, 'finishing'));
      case 'finishing': {
        // What was published in the moment of the switch.
        const { position: next, through } = await pass(swap, position, control);
        if (!through) return go(next);
        await files.switchEmbedder(swap.partition_key, swap.source_embedder, swap.target);
        return go({ ...next, phase: 'done' });
      }
      case 'done':
        return go(position);
    }
  };

  /** Some seconds of a swap. A repeated attempt goes on where the last page of files ended. */
  const runEmbedderSwapSlice = async (input: {
    swapId: string;
    position: SwapPosition | null;
  }): Promise<SwapSlice> => {
    const context = Context.current();
    const endsAt = Date.now() + sliceMs;
    const swap = await requireSwap(input.swapId);
    const reached = context.info.heartbeatDetails as SwapPosition | undefined;
    const slice = await advance(swap, reached ?? input.position ?? (await start(swap)), {
      signal: context.cancellationSignal,
      isOver: () => Date.now() >= endsAt,
      reached: (position) => {
        context.heartbeat(position);
      },
    });
    const { phase, done, total, overWindow, figures } = slice.position;
    await swaps.report(input.swapId, {
      phase,
      files_total: total,
      files_done: done,
      chunks_over_window: overWindow,
      figures,
    });
    return slice;
  };

  /** Takes the mark away, unless the switch is made, and ends the record. */
  const endEmbedderSwap = async ({
    swapId,
    ...end
  }: { swapId: string } & Parameters<typeof swaps.finish>[1]): Promise<void> => {
    const swap = await swaps.get(swapId);
    if (swap !== null) await partitions.endSwap(swap.partition, swapId, { switched: false });
    await swaps.finish(swapId, end);
  };

  const listPartitionsOn = async ({
    embedder,
    after = '',
    limit = Infinity,
  }: {
    embedder: string;
    after?: string;
    /** The answer goes through Temporal, which takes 2 MiB. */
    limit?: number;
  }): Promise<Pick<PartitionRecord, 'partition' | 'partition_key'>[]> =>
    (await partitions.list(EVERYTHING))
      .filter((partition) => partition.embedder === embedder && partition.partition > after)
      .sort((one, other) => (one.partition < other.partition ? -1 : 1))
      .slice(0, limit)
      .map(({ partition, partition_key }) => ({ partition, partition_key }));

  return { beginEmbedderSwap, runEmbedderSwapSlice, endEmbedderSwap, listPartitionsOn };
}

export type SwapActivities = ReturnType<typeof createSwapActivities>;

/** After the switch the record's mark is gone. The endpoint may have been renamed meanwhile. */
function targetOf(partition: PartitionRecord, swap: EmbedderSwapRecord): string {
  if (partition.swap?.swap_id === swap.swap_id) return partition.swap.target;
  return partition.swapped_from.includes(swap.source_embedder) ? partition.embedder : swap.target_embedder;
}

function whyHeld(
  { min_overlap: overlap, min_known_item: knownItem, question_set: set, min_ndcg: ndcg }: EmbedderSwapRecord,
  figures: SwapFigures,
): string | null {
  const { questions = null } = figures;
  const short = [
    ...(overlap !== null && figures.overlap < overlap
      ? [`${figures.overlap} of the first ten results stay, where ${overlap} are asked for (min_overlap)`]
      : []),
    ...(knownItem !== null && figures.known_item_after < knownItem
      ? [
          `known texts are found at a mean reciprocal rank of ${figures.known_item_after}, where ${knownItem} is ` +
            `asked for (min_known_item); it is ${figures.known_item_before} with the present embedder`,
        ]
      : []),
    ...(ndcg != null && (questions === null || questions.ndcg_after < ndcg)
      ? [
          questions === null
            ? `the question set '${set}' has no question that names relevant items`
            : `the question set '${set}' reaches an nDCG@10 of ${questions.ndcg_after}, where ${ndcg} is asked for ` +
              `(min_ndcg); it is ${questions.ndcg_before} with the present embedder`,
        ]
      : []),
  ];
  if (short.length === 0) return null;
  return `The switch is held back: ${short.join('; ')}. The partition stays with its embedder.`;
}
