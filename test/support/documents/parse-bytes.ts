import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChunkFile } from '../../../activities/documents/parsing/chunk-file.js';
import type { ParsedChunk } from '../../../activities/documents/parsing/chunk.js';
import type { FileKind } from '../../../activities/documents/parsing/file-types.js';
import { createParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import type {
  ParsedDocument,
  ParserPoolOptions,
  ParseRequest,
} from '../../../activities/documents/parsing/parser-pool.js';

export interface BytesParser {
  parse(
    kind: FileKind,
    bytes: Buffer | string,
    more?: Partial<ParseRequest>,
  ): Promise<ParsedDocument & { chunks: ParsedChunk[]; text: string }>;
  close(): Promise<void>;
}

/** A pool of parsers that takes bytes and answers chunks; close it. */
export async function openBytesParser(options: ParserPoolOptions = { size: 1 }): Promise<BytesParser> {
  const directory = await mkdtemp(join(tmpdir(), 'tamis-parsing-'));
  const pool = createParserPool(options);
  let count = 0;
  return {
    async parse(kind, bytes, more = {}) {
      const path = join(directory, `${count++}.${kind}`);
      await writeFile(path, bytes);
      const chunking = { chunkSize: 512, overlapRate: 0 };
      const request = { path, kind, filename: 'upload', outputPath: `${path}.jsonl`, chunking, ...more };
      const parsed = await pool.parseAndChunk(request);
      const chunks: ParsedChunk[] = [];
      for await (const chunk of readChunkFile(parsed.outputPath)) chunks.push(chunk);
      return { ...parsed, chunks, text: chunks.map((chunk) => chunk.text).join('\n') };
    },
    async close() {
      await pool.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
