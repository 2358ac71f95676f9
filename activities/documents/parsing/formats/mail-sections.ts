import { AppError } from '../../../../schemas/app-error.js';
import type { MailIds } from '../parser-messages.js';
import { parseHtml } from '../html-parser.js';
import { createParseNotes } from '../parse-notes.js';
import type { ParseNotes } from '../parse-notes.js';
import type { Nest, ParseSource } from '../parse-source.js';
import type { Section } from '../section.js';
import { cleanText } from '../../../text/clean-text.js';
import { firstCharacters } from '../../../text/sentences.js';
import { MAX_ATTACHMENT_FILES } from './attachment-collector.js';
import type { AttachmentCollector } from './attachment-collector.js';
import { beyondLimit } from './limit-error.js';
import { memberSections } from './member-sections.js';
import { splitQuotes } from './quoted-text.js';

/** A mail as its reader gives it, whatever it was stored as. */
export interface Mail {
  subject: string;
  /** Those that are there, in this order. */
  headers: { name: string; value: string }[];
  text: string;
  html: string;
  attachments: MailAttachment[];
}

export interface MailAttachment {
  name: string | null;
  mimetype: string;
  /** A picture that the text shows: it has no name that says anything. */
  inline: boolean;
  /** Called once; a large one is not held beyond that. As of a `Member`. */
  write(path: string, most: number): Promise<number>;
}

/** Of the words that the HTML shows, those that a text has which says the same. */
const SAME = 0.8;

/** Headers, what the writer said, what is quoted, and each attachment under its name. */
export async function* mailSections(
  mail: Mail,
  source: ParseSource & { nest: Nest },
): AsyncGenerator<Section> {
  const subject = oneLine(mail.subject);
  const headingPath = subject === '' ? [] : [firstCharacters(subject, 200)];
  const lines = mail.headers
    .map(({ name, value }) => ({ name, value: oneLine(value) }))
    .filter(({ value }) => value !== '')
    .map(({ name, value }) => `${name}: ${value}`);
  const title = subject === '' ? '' : `# ${subject}\n\n`;
  yield { headingPath, page: null, kind: 'text', text: title + lines.join('\n'), opens: true };
  yield* bodySections(mail, headingPath, source);
  yield* attachmentSections(mail, headingPath, source);
}

/** Each attachment under its name; where they are to be files of their own, their names alone. */
async function* attachmentSections(
  mail: Mail,
  headingPath: string[],
  source: ParseSource & { nest: Nest },
): AsyncGenerator<Section> {
  const count = mail.attachments.length;
  const names: string[] = [];
  const { nest, limits } = source;
  // Before the first of them is read, which takes its time.
  if (nest.spent.members + count > limits.maxArchiveEntries)
    throw beyondLimit('maxArchiveEntries', limits.maxArchiveEntries, count);
  for (let index = 0; index < count; index++) {
    // One that is not read is let go as well.
    const { name, mimetype, inline, write } = mail.attachments.shift()!;
    if (inline && mimetype.startsWith('image/')) continue;
    const member = {
      name: name ?? defaultName(mimetype, index + 1),
      mimetype,
      headingPath,
      write,
    };
    if (source.attachments === undefined) yield* memberSections(member, source);
    else if (await takeAttachment(member, source.attachments, source)) names.push(oneLine(member.name));
  }
  if (names.length > 0)
    yield { headingPath, page: null, kind: 'text', text: `Attachments: ${names.join(', ')}` };
}

async function takeAttachment(
  attachment: Parameters<AttachmentCollector['take']>[0],
  attachments: AttachmentCollector,
  { nest, limits }: ParseSource & { nest: Nest },
): Promise<boolean> {
  nest.spent.members += 1;
  if (attachments.full) {
    nest.notes.degrade(
      `Of a mail the first ${MAX_ATTACHMENT_FILES} attachments become files; the others were left out.`,
    );
    return false;
  }
  try {
    nest.spent.bytes += await attachments.take(attachment, limits.maxExpandedBytes - nest.spent.bytes);
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'FILE_CORRUPT') throw error;
    nest.notes.degrade(`${oneLine(attachment.name)} was not read: ${error.message}`);
    return false;
  }
}

function* bodySections(
  mail: Mail,
  headingPath: string[],
  { nest, limits }: ParseSource & { nest: Nest },
): Generator<Section> {
  // Of the document only where the HTML is what is read.
  const notes = createParseNotes();
  const html = mail.html === '' ? [] : [...parseHtml(cleanText(mail.html), limits.maxNesting, { notes })];
  const plain = cleanText(mail.text).trim();
  // The reader of parts that are not alternatives has joined them in the text, what the HTML hides as well.
  const isShown = html.length === 0 ? notes.dropped === 0 : saysTheSame(plain, html);
  if (plain !== '' && isShown) {
    yield* partSections(plain, headingPath);
    return;
  }
  takeOver(notes, nest.notes);
  for (const section of html) {
    const path = [...headingPath, ...section.headingPath];
    if (section.kind === 'text') yield* partSections(section.text, path, section.opens);
    else yield { ...section, headingPath: path };
  }
}

/**
 * Whether a text says what readers of the HTML see: nearly all of it, in its order, and no word more. Mail programs
 * show the HTML alone (RFC 2046, 5.1.4), so that a text beside it may be a hint to open a web page, or carry
 * instructions for a model. One that says the same is better where it is: it keeps the signs of quotation.
 */
function saysTheSame(plain: string, html: readonly Section[]): boolean {
  const said = wordsOf(plain);
  let next = said.next();
  let shown = 0;
  let same = 0;
  for (const { text } of html)
    for (const word of wordsOf(text)) {
      shown += 1;
      if (next.value !== word) continue;
      same += 1;
      next = said.next();
    }
  return next.done === true && same >= shown * SAME;
}

/** Programs write headings in capitals, and links and emphasis by signs. */
function* wordsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) yield word.toLowerCase();
}

function takeOver(found: ParseNotes, notes: ParseNotes): void {
  for (const warning of found.warnings) notes.warn(warning);
  for (const reason of found.reasons) notes.degrade(reason);
  notes.drop(found.dropped);
}

function* partSections(text: string, headingPath: string[], opens = false): Generator<Section> {
  for (const part of splitQuotes(text)) {
    if (!part.quoted) {
      yield { headingPath, page: null, kind: 'text', text: part.text, opens };
      continue;
    }
    const title = firstCharacters(`Quoted${part.attribution === '' ? '' : `: ${part.attribution}`}`, 200);
    const quoted = `## ${title}\n\n${part.text}`;
    yield { headingPath: [...headingPath, title], page: null, kind: 'text', text: quoted, opens: true };
  }
}

/**
 * A thread is known by the id of its first mail: the first of the references, or what is answered, or the mail's own.
 * The parent is the mail that is answered.
 */
export function mailIds(given: {
  messageId?: string | undefined;
  inReplyTo?: string | undefined;
  references?: string | undefined;
}): MailIds | null {
  const ids = (text: string | undefined): string[] =>
    [...(text ?? '').matchAll(/<([^<>\s]{1,500})>/g)].map((match) => match[1]!);
  const own = ids(given.messageId)[0];
  const references = ids(given.references);
  const parent = ids(given.inReplyTo)[0] ?? references.at(-1) ?? null;
  const thread = references[0] ?? parent ?? own;
  return thread === undefined ? null : { thread, parent };
}

function defaultName(mimetype: string, number: number): string {
  return mimetype === 'message/rfc822' ? `forwarded message ${number}.eml` : `attachment ${number}`;
}

function oneLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}
