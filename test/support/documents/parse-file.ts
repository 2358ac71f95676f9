import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readChunkFile } from '../../../activities/documents/parsing/chunk-file.js';
import type { ParsedChunk } from '../../../activities/documents/parsing/chunk.js';
import type { FileKind } from '../../../activities/documents/parsing/file-types.js';
import type { ParseLimits } from '../../../activities/documents/parsing/parse-limits.js';
import { createParserPool } from '../../../activities/documents/parsing/parser-pool.js';
import type { ParsedDocument, ParseRequest } from '../../../activities/documents/parsing/parser-pool.js';

export type ParsedFile = ParsedDocument & { chunks: ParsedChunk[]; text: string };

/** A parser pool for tests, in a directory of its own. */
export interface TestParser {
  parse(kind: FileKind, bytes: Buffer | string, more?: Partial<ParseRequest>): Promise<ParsedFile>;
  /** What parsers left behind beside the files they were given. */
  leftovers(): Promise<string[]>;
  close(): Promise<void>;
}

export async function startTestParser(limits: Partial<ParseLimits> = {}): Promise<TestParser> {
  const directory = await mkdtemp(join(tmpdir(), 'tamis-formats-'));
  const pool = createParserPool({ size: 1, limits });
  const given = new Set<string>();
  return {
    async parse(kind, bytes, more = {}) {
      const name = `${given.size}.${kind}`;
      const path = join(directory, name);
      given.add(name).add(`${name}.jsonl`);
      await writeFile(path, bytes);
      const chunking = { chunkSize: 512, overlapRate: 0 };
      const outputPath = `${path}.jsonl`;
      const parsed = await pool.parseAndChunk({
        path,
        kind,
        filename: 'upload',
        outputPath,
        chunking,
        ...more,
      });
      const chunks: ParsedChunk[] = [];
      for await (const chunk of readChunkFile(parsed.outputPath)) chunks.push(chunk);
      return { ...parsed, chunks, text: chunks.map((chunk) => chunk.text).join('\n') };
    },
    leftovers: async () => (await readdir(directory)).filter((name) => !given.has(name)),
    async close() {
      await pool.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
