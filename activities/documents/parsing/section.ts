export type SectionKind = 'text' | 'table' | 'code';

/**
 * What every parser gives: a fragment of the document in reading order, as Markdown. Consecutive sections with
 * the same heading path belong together; a parser may cut a long text anywhere and mark the rest `continues`.
 */
export interface Section {
  /** Titles from the outermost heading down to the one this fragment stands under. */
  headingPath: string[];
  /** Page number from 1, or null where the format has no pages. */
  page: number | null;
  text: string;
  kind: SectionKind;
  /** True when a heading opens here, even one with the same title as the last. */
  opens?: boolean;
  /** True when the text goes on in the middle of the paragraph that the last section ended with. */
  continues?: boolean;
  /** Offset of `text` in the decoded source (UTF-16 units, after line ends became `\n`), where that is known. */
  charStart?: number;
  /** Here stands the picture of this number; the text is empty. */
  picture?: number;
}
