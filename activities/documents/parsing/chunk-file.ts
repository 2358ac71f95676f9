import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { readLines } from '../../text/read-lines.js';
import type { ParsedChunk } from './chunk.js';

const BUFFERED = 1024 * 1024;

/** JSON may hold these as they are; where lines are read, they may count as ends of lines. */
const LINE_SEPARATORS = /[\u2028\u2029]/g;

/** Writes chunks as JSON lines, a megabyte at a time. */
export interface ChunkWriter {
  write(chunk: ParsedChunk): Promise<void>;
  close(): Promise<void>;
}

export async function openChunkWriter(path: string): Promise<ChunkWriter> {
  const file = await open(path, 'w');
  let lines: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const text = lines.join('');
    lines = [];
    length = 0;
    if (text !== '') await file.writeFile(text); // goes on where the last write ended
  };
  return {
    async write(chunk) {
      const json = JSON.stringify(chunk).replace(LINE_SEPARATORS, asEscape);
      const line = `${json}\n`;
      lines.push(line);
      length += line.length;
      if (length > BUFFERED) await flush();
    },
    async close() {
      try {
        await flush();
      } finally {
        await file.close();
      }
    },
  };
}

function asEscape(separator: string): string {
  return separator === '\u2028' ? '\\u2028' : '\\u2029';
}

/** Reads a file of chunks back, one at a time. */
export async function* readChunkFile(path: string): AsyncGenerator<ParsedChunk> {
  for await (const line of readLines(createReadStream(path))) {
    if (line !== '') yield JSON.parse(line) as ParsedChunk;
  }
}
