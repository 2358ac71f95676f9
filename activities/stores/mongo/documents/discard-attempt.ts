import type { BlobCollections, BlobWriteDocument } from './blob-collections.js';

const AT_ONCE = 8;

/**
 * Takes away one attempt's documents: the visible one first, its entry last, so that `removeIncomplete` finds what
 * a crash leaves. Chunks go by their number and a few at a time: one command for all would hold 500 MB at once in
 * a small server.
 */
export async function discardAttempt(
  { files, chunks, writes }: BlobCollections,
  attempt: BlobWriteDocument,
): Promise<void> {
  const { _id, ...entry } = attempt;
  await writes.updateOne({ _id }, { $set: { ...entry, doomed: true } }, { upsert: true });
  await files.deleteOne({ _id });
  for (let first = 0; first < attempt.chunks; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, attempt.chunks - first) }, (_, i) => first + i);
    await Promise.all(numbers.map((n) => chunks.deleteOne({ files_id: _id, n })));
  }
  await writes.deleteOne({ _id });
}
