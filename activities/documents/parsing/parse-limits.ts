const MIB = 1024 * 1024;

/** What one document may cost. Going beyond any of these but the time is FILE_TOO_COMPLEX. */
export interface ParseLimits {
  /** Wall time of one document in milliseconds (PARSE_TIMEOUT is in seconds); beyond: PARSE_TIMEOUT. */
  timeoutMs: number;
  /** Memory of the parser process in MiB, its own runtime (some 150 MiB) included. */
  memoryMb: number;
  maxPages: number;
  /** Sum of the unpacked sizes of a zip package, in bytes. */
  maxExpandedBytes: number;
  /** Unpacked over packed size of a zip package; looked at from 32 MiB unpacked on. */
  maxExpansionRatio: number;
  maxArchiveEntries: number;
  /** Files in files: an attachment of a mail in an archive is at 2. */
  maxArchiveDepth: number;
  /** Unpacked size of all XML parts of a package together: trees take some 15 times as much memory. */
  maxMarkupBytes: number;
  /**
   * Element depth beyond which HTML is read as a flat stream of tags instead of as a tree; JSON and XML
   * that nest deeper are refused.
   */
  maxNesting: number;
  /** Of a table: a wider one, or a longer one, is refused. */
  maxColumns: number;
  maxRows: number;
  /** Of a picture that goes through OCR: what it declares, and its file. */
  maxPixels: number;
  maxImageBytes: number;
  /** Pages and pictures of one document that go through OCR; the others are left out, and the report says so. */
  maxOcrPages: number;
  /** Tesseract's codes; none: no OCR. */
  ocrLanguages: readonly string[];
}

export const defaultParseLimits: Readonly<ParseLimits> = Object.freeze({
  timeoutMs: 600_000,
  memoryMb: 2048,
  maxPages: 20_000,
  maxExpandedBytes: 512 * MIB,
  maxExpansionRatio: 200,
  maxArchiveEntries: 10_000,
  maxArchiveDepth: 5,
  maxMarkupBytes: 96 * MIB,
  maxNesting: 400,
  maxColumns: 16_384,
  maxRows: 5_000_000,
  maxPixels: 40_000_000,
  maxImageBytes: 64 * MIB,
  maxOcrPages: 200,
  ocrLanguages: Object.freeze(['eng', 'fra', 'deu', 'spa']),
});
