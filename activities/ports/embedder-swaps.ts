/** Moves of partitions to another embedder; see `adapters.ts` for the rules that hold for all ports. */
import type {
  EmbedderSwapRecord,
  SwapFigures,
  SwapGates,
  SwapStart,
  SwapStatus,
} from '../../schemas/documents/embedder-swaps.js';

/** The workflows that move partitions. */
export interface SwapStarter {
  /** @throws AppError EMBEDDER_SWAP_IN_PROGRESS, SERVICE_UNAVAILABLE */
  startSwap(swap: SwapStart): Promise<void>;
  /** Of every partition on an embedder. @throws AppError as `startSwap` */
  startSwaps(
    swaps: {
      source: string;
      target: string;
      concurrency: number;
      startedBy: string;
    } & SwapGates,
  ): Promise<void>;
  /** False when no workflow is at work on this partition. @throws AppError SERVICE_UNAVAILABLE */
  cancelSwap(partitionKey: string): Promise<boolean>;
}

export interface EmbedderSwapStore {
  /** Begins a swap; repeating it changes nothing. */
  insert(swap: SwapStart): Promise<void>;
  get(swapId: string): Promise<EmbedderSwapRecord | null>;
  /** The newest of a partition. */
  latest(partitionKey: string): Promise<EmbedderSwapRecord | null>;
  /** The newest of each by its key; partitions that had none are left out. */
  latestOfEach(partitionKeys: readonly string[]): Promise<Map<string, EmbedderSwapRecord>>;
  /** The newest first. */
  list(limit: number): Promise<EmbedderSwapRecord[]>;
  /** Notes progress of a running swap; `files_done` never goes down. */
  report(
    swapId: string,
    progress: Pick<EmbedderSwapRecord, 'phase' | 'files_total' | 'files_done' | 'chunks_over_window'> & {
      figures: SwapFigures | null;
    },
  ): Promise<void>;
  /** Running → final, once. */
  finish(
    swapId: string,
    end: { status: Exclude<SwapStatus, 'running'>; error: string | null; code?: string | null },
  ): Promise<void>;
}
