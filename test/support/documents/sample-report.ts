import type { ParseReport } from '../../../schemas/documents/parse-report.js';

/** What came of reading a small text. */
export function sampleReport(more: Partial<ParseReport> = {}): ParseReport {
  return {
    parser: 'text',
    parser_version: null,
    encoding: 'utf-8',
    pages: null,
    pages_without_text: null,
    pages_by_ocr: 0,
    ocr_confidence: null,
    pictures: null,
    tables: 0,
    characters: 4,
    characters_dropped: 0,
    degraded: false,
    reasons: [],
    warnings: [],
    duration_ms: 12,
    peak_memory_mb: 90,
    ...more,
  };
}
