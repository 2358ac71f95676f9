import { chunkId } from '../../schemas/documents/chunk-id.js';
import type { Chunk, StoredChunk } from '../../schemas/documents/documents.js';
import type { TaskRecord } from '../../schemas/documents/tasks.js';
import { toVersionEntries } from './metadata-entries.js';
import { versionFacts } from './task-ref.js';

/** A chunk as the vector store keeps it. */
export function storedChunk(
  task: TaskRecord,
  chunk: Chunk,
  { total, published }: { total: number; published: boolean },
): StoredChunk {
  return {
    chunk_id: chunkId(task.file_key, task.generation, chunk.position),
    partition: task.partition,
    file_id: task.file_id,
    file_key: task.file_key,
    generation: task.generation,
    position: chunk.position,
    published,
    text: chunk.text,
    filename: task.upload.filename,
    heading_path: chunk.headingPath,
    page: chunk.page,
    chunk_type: chunk.chunkType,
    section_id: chunk.position,
    prev_section_id: chunk.position === 0 ? null : chunk.position - 1,
    next_section_id: chunk.position + 1 < total ? chunk.position + 1 : null,
    relationship_id: task.relationship_id,
    parent_id: task.parent_id,
    metadata: toVersionEntries(versionFacts(task)),
  };
}
