import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../schemas/app-error.js';
import { accessProblemOf } from '../../../schemas/engine-access.js';
import type { ChunkStore } from '../../ports/chunks.js';
import { isSchemaBehind } from './ensure-chunk-index.js';

const AGAIN_MS = 2_000;

/** Whether the engine cannot be reached for now; one that turns this process away will do so again. */
function isAway(error: unknown): boolean {
  return (
    error instanceof AppError && error.code === 'VDB_CONNECTION_ERROR' && accessProblemOf(error) === undefined
  );
}

/**
 * Makes sure that the index is there, with these fields and an owner. Where the engine is away that is tried until it
 * is back: signals, lists and whatever else needs no index are served meanwhile.
 * @param options.signal ends the tries
 * @throws AppError what else goes wrong at the first of them
 */
export async function prepareIndex(
  chunks: Pick<ChunkStore, 'ensureSchema' | 'ownerOf'>,
  options: {
    fields: Parameters<ChunkStore['ensureSchema']>[0];
    recordStore: string;
    signal: AbortSignal;
    againMs?: number;
  },
): Promise<void> {
  const { fields, recordStore, signal, againMs = AGAIN_MS } = options;
  const prepare = async (): Promise<void> => {
    await chunks.ensureSchema(fields).catch((error: unknown) => {
      // Searches and uploads say so until it is migrated; everything else works.
      if (!isSchemaBehind(error)) throw error;
    });
    // At the first start already, so that the chunks have an owner before anyone else can ask.
    await chunks.ownerOf(recordStore);
  };
  const untilThere = async (): Promise<void> => {
    for (;;) {
      await sleep(againMs, undefined, { signal, ref: false });
      const isDone = await prepare().then(
        () => true,
        // What the engine says once it is there is said to each write, too.
        (error: unknown) => !isAway(error),
      );
      if (isDone) return;
    }
  };
  try {
    await prepare();
  } catch (error) {
    if (!isAway(error)) throw error;
    void untilThere().catch(() => undefined);
  }
}
