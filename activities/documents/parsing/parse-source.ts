import type { AttachmentCollector } from './formats/attachment-collector.js';
import type { FileKind } from './file-types.js';
import type { ParseLimits } from './parse-limits.js';
import type { ParseNotes } from './parse-notes.js';
import type { MailIds } from './parser-messages.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import type { Section } from './section.js';

export interface ParseSource {
  /** Local file with the bytes. */
  path: string;
  kind: FileKind;
  limits: ParseLimits;
  /** Takes the document's pictures, whose places are then among its sections. */
  pictures?: PictureCollector | undefined;
  /** Takes the attachments of a mail, which are none of its sections then. */
  attachments?: AttachmentCollector | undefined;
  /** Of a file within a file. */
  nest?: Nest;
}

/** Sections of a document as they are read, and what is known about the whole at the end. */
export interface ParsedSections {
  sections: AsyncIterable<Section> | Iterable<Section>;
  /** Pages read so far and in all; null where the format has none. */
  pages(): { done: number; total: number } | null;
  /** How the text was encoded, for text formats. */
  encoding?: string;
  /** What the parser noted by the end of the sections. */
  notes?: ParseNotes;
  /** What reads it: the name in the report, and the package whose version that is. */
  parser?: { name: string; package?: string };
  /** Of a mail, once its first section was read. */
  mail?: () => MailIds | null;
}

/** What the files that are packed in one another have in common, while the outermost is read. */
export interface Nest {
  /** Files around this one. */
  depth: number;
  /** Members and bytes of all of them so far. */
  spent: { members: number; bytes: number };
  /** What the report of the outermost says of them. */
  notes: ParseNotes;
  /** Reads a file within, by the parser of its kind. */
  parse(source: ParseSource): Promise<ParsedSections>;
}
