/**
 * Absolute links under the address that the client reached us by. Ids are the last path step, with no slash after it.
 */
export function links(baseUrl: string, { originals = false } = {}) {
  return {
    task: (taskId: string): string => `${baseUrl}/indexer/task/${encodeURIComponent(taskId)}`,
    taskError: (taskId: string): string => `${baseUrl}/indexer/task/${encodeURIComponent(taskId)}/error`,
    extract: (chunkId: string): string => `${baseUrl}/extract/${encodeURIComponent(chunkId)}`,
    /** The source file of a chunk; null where originals are not kept. */
    original: (chunkId: string): string | null =>
      originals ? `${baseUrl}/static/${encodeURIComponent(chunkId)}` : null,
    file: (partition: string, fileId: string): string =>
      `${baseUrl}/partition/${encodeURIComponent(partition)}/file/${encodeURIComponent(fileId)}`,
  };
}

export type Links = ReturnType<typeof links>;
