import type { Transcript, TranscriptSegment } from '../ports/models.js';

/** A silence of so many seconds: what follows is a paragraph of its own. */
const PAUSE = 2;
/** Once a paragraph has gone on for so long, in seconds, it ends with its sentence, or at last by force. */
const LONG = 45;
const MAX_SECONDS = 90;
const SENTENCE_END = /[.!?…。！？؟।]["'”’»)\]]*$/u;

/**
 * A transcript as plain text: paragraphs that each begin with the time they are said at, `[1:02:03]`, so that a reader
 * finds the place in the recording. Without times it is the text alone. Deterministic, time linear in the text.
 */
export function transcriptText({ text, segments }: Transcript): string {
  if (segments.length === 0) return text.trim();
  const paragraphs: string[] = [];
  let words: string[] = [];
  let began = 0;
  let last: TranscriptSegment | null = null;
  const close = (): void => {
    const said = words.join(' ').trim();
    if (said !== '') paragraphs.push(`[${clock(began)}] ${said}`);
    words = [];
  };
  for (const segment of segments) {
    if (last !== null && isBreak(began, last, segment)) close();
    if (words.length === 0) began = segment.start;
    // A line break of the server's within a segment is none of the speaker's.
    words.push(segment.text.replace(/\s+/g, ' ').trim());
    last = segment;
  }
  close();
  return paragraphs.join('\n\n');
}

function isBreak(began: number, last: TranscriptSegment, next: TranscriptSegment): boolean {
  if (next.start - last.end >= PAUSE) return true;
  const length = last.end - began;
  return length >= MAX_SECONDS || (length >= LONG && SENTENCE_END.test(last.text.trimEnd()));
}

function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const part = (number: number): string => String(number).padStart(2, '0');
  return `${Math.floor(whole / 3600)}:${part(Math.floor(whole / 60) % 60)}:${part(whole % 60)}`;
}
