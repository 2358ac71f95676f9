import { Context } from '@temporalio/activity';
import type { CallbackActivities } from '../../activities/documents/callback-activities.js';
import type { CopyActivities } from '../../activities/documents/copy-activities.js';
import type { DocumentActivities } from '../../activities/documents/document-activities.js';
import type { DocumentRef } from '../../activities/documents/task-ref.js';
import type { EmbeddingActivities } from '../../activities/documents/embedding-activities.js';
import type { EnrichmentActivities } from '../../activities/documents/enrichment-activities.js';
import type { PartitionActivities } from '../../activities/documents/partition-activities.js';
import type { EvaluationActivities } from '../../activities/retrieval/evaluation/evaluation-activities.js';
import type { SwapActivities, SwapPosition } from '../../activities/documents/swap-activities.js';
import type { SweepActivities } from '../../activities/documents/sweep-activities.js';

export type AllActivities = DocumentActivities &
  EmbeddingActivities &
  EnrichmentActivities &
  CopyActivities &
  CallbackActivities &
  PartitionActivities &
  SwapActivities &
  EvaluationActivities &
  SweepActivities;

const SWAP_PHASES = ['embedding', 'measuring', 'switching', 'finishing', 'done'] as const;

/** One phase further with each slice. */
export function nextSwapPosition(position: SwapPosition | null): SwapPosition {
  return {
    phase: SWAP_PHASES[position === null ? 1 : SWAP_PHASES.indexOf(position.phase) + 1] ?? 'done',
    after: null,
    passes: 1,
    embedded: 0,
    done: 2,
    total: 2,
    overWindow: 0,
    figures: null,
  };
}

/** Activities that note their calls and do what a test says; the rest succeeds at once. */
export function scriptedActivities(script: Partial<AllActivities> = {}) {
  const calls: { name: string; args: unknown[] }[] = [];
  const plain: AllActivities = {
    parseDocument: async () => ({ chunkCount: 3 }),
    enrichDocument: async () => ({ degraded: [] }),
    embedDocument: async () => ({ stored: 3 }),
    publishDocument: async () => ({ replaced: false }),
    endTask: async (_ref, failure) =>
      failure.code === 'TASK_CANCELLED' || failure.code === 'SUPERSEDED' ? 'CANCELLED' : 'FAILED',
    cleanFile: async () => undefined,
    copyVersion: async () => ({ chunkCount: 3 }),
    sendCallback: async () => undefined,
    giveUpCallback: async () => undefined,
    findUntoldCallbacks: async () => [],
    settleFileChunks: async () => undefined,
    finishDeletion: async () => undefined,
    deletedFiles: async () => [],
    nextTurns: async () => ({ refs: [], waiting: 0 }),
    findUnstarted: async () => [],
    markHandedOver: async () => undefined,
    endExpired: async () => 0,
    findDirtyFiles: async () => [],
    beginEmbedderSwap: async () => undefined,
    runEmbedderSwapSlice: async ({ position }) => ({ position: nextSwapPosition(position), held: null }),
    endEmbedderSwap: async () => undefined,
    listPartitionsOn: async () => [{ partition: 'library', partition_key: 'key' }],
    beginEvaluation: async () => undefined,
    runEvaluationSlice: async ({ from }) => ({ next: from + 2, done: from >= 2 }),
    finishEvaluation: async () => 'completed',
    endEvaluation: async () => undefined,
    removeOrphans: async () => ({ chunks: 0, blobs: 0 }),
    removeEnded: async () => 0,
  };
  const activities = Object.fromEntries(
    Object.entries({ ...plain, ...script }).map(([name, run]) => [
      name,
      async (...args: unknown[]) => {
        calls.push({ name, args });
        return (run as (...given: unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { activities, calls, names: () => calls.map((call) => call.name) };
}

/** Beats until cancelled, as a long activity does. */
export async function untilCancelled(): Promise<never> {
  const context = Context.current();
  const timer = setInterval(() => context.heartbeat(), 100);
  try {
    return await context.cancelled;
  } finally {
    clearInterval(timer);
  }
}

export function documentRef(name: string): DocumentRef {
  return {
    taskId: `task-${name}`,
    fileKey: `file-${name}`,
    generation: 7,
  };
}
