import { AppError } from '../../../../schemas/app-error.js';

const SENTENCES = {
  maxColumns: 'A table of the file has more columns than are allowed; split it into narrower tables.',
  maxRows: 'The file has more rows than are allowed; split it into several files.',
  maxNesting: 'The file nests deeper than is allowed; flatten it, or save it as text.',
  maxRecord: 'A single row of the file is longer than is allowed; an opening quote may never be closed.',
  maxArchiveEntries: 'The file has more members than are allowed; split it into several files.',
  maxArchiveDepth: 'Files are packed in files deeper than is allowed; unpack the inner ones first.',
  maxExpandedBytes: 'The file unpacks to more than is allowed; split it into several files.',
  maxPixels: 'The picture has more pixels than are allowed; scale it down.',
  maxPages: 'The file has more pages than are allowed; split it into several files.',
  maxImageBytes: 'The picture has more bytes than are allowed; scale it down, or compress it more.',
} as const;

/** A file that goes beyond a limit, with what a person can do about it. */
export function beyondLimit(limit: keyof typeof SENTENCES, max: number, found?: number): AppError {
  return new AppError('FILE_TOO_COMPLEX', SENTENCES[limit], {
    details: { limit, max, ...(found !== undefined && { found }) },
  });
}
