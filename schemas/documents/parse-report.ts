/** What came of reading a file: kept with its task and its version, answered as it is. */
export interface ParseReport {
  /** The library that read the file; `text` where none is needed. */
  parser: string;
  parser_version: string | null;
  /** Null where the format has no pages. */
  pages: number | null;
  pages_without_text: number | null;
  pages_by_ocr: number;
  /** Mean over the words that OCR read, 0 to 1; null where there was none. */
  ocr_confidence: number | null;
  /** Handed to a model to be described, and left out with the reasons; null where the format has none. */
  pictures: { kept: number; left_out: number; reasons: string[] } | null;
  /** Of text formats. */
  encoding: string | null;
  tables: number;
  /** Characters of the text that was kept; and of what was read and left out (furniture, running titles). */
  characters: number;
  characters_dropped: number;
  /** Content was lost, for these reasons; the rest is indexed. */
  degraded: boolean;
  reasons: string[];
  warnings: string[];
  /** Of a mail whose attachments are files of their own: each with its file, or why there is none. */
  attachments?: { name: string; file_id: string | null; reason: string | null }[] | undefined;
  duration_ms: number;
  /** Of the parser process; null where a thread read it, whose memory is not known. */
  peak_memory_mb: number | null;
}
