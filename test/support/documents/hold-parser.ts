import { createParserPool } from '../../../activities/documents/parsing/parser-pool.js';

/** A program for tests: starts a parser on the file it is given, tells the parser's process id, and waits. */
const path = process.argv[2]!;
const pool = createParserPool({
  size: 1,
  limits: { memoryMb: 16_384 },
  onStart: (parser) => console.log(`parser ${parser.pid}`),
});
await pool
  .parseAndChunk({
    path,
    kind: 'pdf',
    filename: 'endless.pdf',
    outputPath: `${path}.jsonl`,
    chunking: { chunkSize: 512, overlapRate: 0.2 },
  })
  .catch(() => undefined);
await pool.close();
