import { open } from 'node:fs/promises';

/** Bytes that can be read anywhere: a GridFS file by ranges, a local file. */
export interface RandomAccessBytes {
  size: number;
  /** Bytes `start` (inclusive) to `end` (exclusive), both within the size. */
  read(start: number, end: number): Promise<Buffer>;
}

/** A local file as random-access bytes; `close` it after use. */
export async function openFileBytes(path: string): Promise<RandomAccessBytes & { close(): Promise<void> }> {
  const file = await open(path);
  const { size } = await file.stat();
  return {
    size,
    async read(start, end) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      return buffer.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}
