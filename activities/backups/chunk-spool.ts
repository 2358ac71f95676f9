import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** Pieces of a backup that wait for what comes behind them. */
export interface ChunkSpool {
  add(piece: Uint8Array): Promise<void>;
  /** Bytes that were added. */
  size(): number;
  /** In the order in which they were added. */
  pieces(): AsyncIterable<Uint8Array>;
  remove(): Promise<void>;
}

/** Up to so much stays in memory: the chunks of most files. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/**
 * The chunks of a file stand in a backup before its record, and those of a large text take gigabytes with their
 * vectors: beyond some MiB they are kept on disk.
 * @param directory a scratch directory of this process
 */
export function createChunkSpool(directory: string): ChunkSpool {
  let held: Uint8Array[] = [];
  let spilled: { path: string; handle: FileHandle; lengths: number[] } | null = null;
  let size = 0;

  const spill = async (): Promise<void> => {
    if (spilled === null) {
      const path = join(directory, `chunks-${randomUUID()}`);
      spilled = { path, handle: await open(path, 'wx+', 0o600), lengths: [] };
    }
    for (const piece of held) {
      await spilled.handle.appendFile(piece);
      spilled.lengths.push(piece.length);
    }
    held = [];
  };

  return {
    async add(piece) {
      held.push(piece);
      size += piece.length;
      if (spilled !== null || size > MAX_HELD_BYTES) await spill();
    },
    size: () => size,
    async *pieces() {
      let position = 0;
      for (const length of spilled?.lengths ?? []) {
        const { bytesRead, buffer } = await spilled!.handle.read(Buffer.alloc(length), 0, length, position);
        if (bytesRead < length) throw new Error('The chunks of a backup that were put on disk are cut off.');
        position += length;
        yield buffer;
      }
      yield* held;
    },
    async remove() {
      const present = spilled;
      [held, spilled, size] = [[], null, 0];
      if (present === null) return;
      await present.handle.close().catch(() => undefined);
      await rm(present.path, { force: true });
    },
  };
}
