import type { ParseReport } from '../../../schemas/documents/parse-report.js';
import type { PictureCount } from '../../../schemas/documents/tasks.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import type { ChunkingOptions } from './chunk.js';
import type { FileKind } from './file-types.js';
import type { Box } from './mark-passage.js';
import type { ParseLimits } from './parse-limits.js';
import type { PictureLimits } from './pictures/picture-limits.js';

/** What the pool asks of a parser process. Text never crosses: the chunks go to a file. */
export interface ParseJob {
  path: string;
  kind: FileKind;
  limits: ParseLimits;
  /** What is made of the document: chunks, its text alone, up to a length, or a picture of one page of a PDF. */
  output: { chunking: ChunkingOptions } | { maxCharacters: number } | { page: number; passage: string };
  /** Written anew: JSON lines, one `ParsedChunk` each; or the text; or a PNG. */
  outputPath: string;
  /** Where the document's pictures go; without it none are taken out. The directory is made when there is one. */
  pictures?: { directory: string; limits: PictureLimits } | undefined;
  /** Where the attachments of a mail go, a directory that is made for them; without it they are sections of it. */
  attachments?: { directory: string } | undefined;
}

export interface ParseProgress {
  chunks: number;
  /** Of formats that have pages. */
  pages?: { done: number; total: number };
}

/** Where a mail stands in its thread, by the ids of mails, without their angle brackets. */
export interface MailIds {
  /** Of the first mail of the thread, this one where it begins it. */
  thread: string;
  /** Of the mail that is answered. */
  parent: string | null;
}

/** An attachment that is to be a file of its own. */
export interface TakenAttachment {
  /** As the mail names it. */
  name: string;
  /** As the mail says; empty where it does not. */
  mimetype: string;
  size: number;
}

/** A page of a PDF as it was drawn. */
export interface PagePicture {
  /** In dots. */
  width: number;
  height: number;
  /** Where the passage stands, as shares of the page. */
  marks: Box[];
}

export interface ParsedDocument {
  /** Places of pictures included. 0 when the document has nothing (the file is then empty), or none were asked for. */
  chunkCount: number;
  /** o200k tokens of all chunks, overlaps counted twice. */
  tokens: number;
  /** Characters of the text as it was read. */
  characters: number;
  /** null where the format has no pages. */
  pages: number | null;
  /** Encoding of a text file as it was found. */
  encoding?: string;
  /** Of a mail. */
  mail?: MailIds;
  outputPath: string;
  /** Where pictures were asked for. The chunks say where each of them stands. */
  pictures?: PictureCount;
  /** Where attachments were asked for: files `0`, `1`, … of the directory. */
  attachments?: TakenAttachment[];
  /** Of the page that was drawn. */
  picture?: PagePicture;
  /** What came of reading it. */
  report?: ParseReport;
}

/** What the process itself knows of a document; its time and memory are measured from outside. */
export type ReadDocument = Omit<ParsedDocument, 'report'> & {
  report: Omit<ParseReport, 'duration_ms' | 'peak_memory_mb'>;
};

export type ParserRequest = { type: 'parse'; job: ParseJob };

/** Why a document was not read. */
export interface ParseFailure {
  /** null where it is not the document's fault. */
  code: ErrorCode | null;
  message: string;
  details: Record<string, unknown>;
  /** For the log. */
  trace?: string;
}

/** What a reader of documents answers, from a process of its own or from a thread. */
export type ReaderReply =
  | { type: 'ready' }
  | { type: 'progress'; progress: ParseProgress }
  | { type: 'done'; result: ReadDocument }
  | ({ type: 'failed' } & ParseFailure);

export type ParserReply =
  | Exclude<ReaderReply, { type: 'done' | 'failed' }>
  /** `rss`: memory the process holds afterwards, in bytes. */
  | (Extract<ReaderReply, { type: 'done' | 'failed' }> & { rss: number });
