import { readFile, writeFile } from 'node:fs/promises';
import PostalMime from 'postal-mime';
import type { Address, Attachment, Email } from 'postal-mime';
import { AppError } from '../../../../schemas/app-error.js';
import type { MailIds } from '../parser-messages.js';
import type { Nest, ParseSource } from '../parse-source.js';
import type { Section } from '../section.js';
import { beyondLimit } from './limit-error.js';
import { mailIds, mailSections } from './mail-sections.js';
import type { MailAttachment } from './mail-sections.js';
import { slimMail } from './slim-mail.js';
import type { SlimMail } from './slim-mail.js';

/**
 * A mail as it is sent: headers, text or HTML, quotations, attachments.
 * @param onIds told of the mail's place in its thread
 * @throws AppError FILE_CORRUPT for what has no headers; FILE_TOO_COMPLEX
 */
export async function* parseEml(
  source: ParseSource & { nest: Nest },
  onIds: (ids: MailIds) => void,
): AsyncGenerator<Section> {
  const slim = await slimMail(source.path);
  try {
    const mail = await readMail(slim.bytes);
    const contents = mail.attachments.map(({ content }) => bytesOf(content));
    // A text is one of the large parts. This is the reader's, which holds all of it.
    const [whole, files] = slim.areAll(contents)
      ? [mail, slim]
      : [await readMail(await readFile(source.path)), WHOLE];
    yield* sectionsOf(whole, files, source, onIds);
  } finally {
    await slim.close();
  }
}

type AttachmentFiles = Pick<SlimMail, 'sizeOf' | 'write'>;

/** Of a mail in which nothing was replaced. */
const WHOLE: AttachmentFiles = {
  sizeOf: (content) => Promise.resolve(content.length),
  write: (content, path) => writeFile(path, content),
};

function sectionsOf(
  mail: Email,
  files: AttachmentFiles,
  source: ParseSource & { nest: Nest },
  onIds: (ids: MailIds) => void,
): AsyncGenerator<Section> {
  const ids = mailIds(mail);
  if (ids !== null) onIds(ids);
  return mailSections(
    {
      subject: mail.subject ?? '',
      headers: [
        { name: 'From', value: addresses(mail.from === undefined ? [] : [mail.from]) },
        { name: 'To', value: addresses(mail.to) },
        { name: 'Cc', value: addresses(mail.cc) },
        { name: 'Date', value: isoDate(mail.date) },
      ],
      text: mail.text ?? '',
      html: mail.html ?? '',
      // Taken out of the mail, so that the memory of each is free once it was read.
      attachments: mail.attachments
        .splice(0)
        .map(({ filename, mimeType, disposition, related, content }) => ({
          name: filename,
          mimetype: mimeType,
          // One with a name of its own is what the mail was sent for: phones send scans so.
          inline: related === true || (disposition === 'inline' && (filename ?? '') === ''),
          write: releasing(content, async (bytes, path, most) => {
            const size = await files.sizeOf(bytes);
            if (size > most) throw beyondLimit('maxExpandedBytes', source.limits.maxExpandedBytes);
            await files.write(bytes, path);
            return size;
          }),
        })),
    },
    source,
  );
}

/** RFC 5322, 3.6.8. The reader takes any line for a header. */
const FIELD_NAME = /^[!-9;-~]+$/;

/** Gives the bytes of an attachment once, and holds them no longer than that. */
function releasing(
  content: Attachment['content'],
  write: (bytes: Buffer, path: string, most: number) => Promise<number>,
): MailAttachment['write'] {
  let held: Attachment['content'] = content;
  return (path, most) => {
    const bytes = bytesOf(held);
    held = '';
    return write(bytes, path, most);
  };
}

function bytesOf(content: Attachment['content']): Buffer {
  if (typeof content === 'string') return Buffer.from(content);
  return content instanceof ArrayBuffer
    ? Buffer.from(content)
    : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

async function readMail(bytes: Buffer): Promise<Email> {
  // Mailboxes put such a line above each mail; it is no header.
  const start = bytes.subarray(0, 5).toString('latin1') === 'From ' ? bytes.indexOf(0x0a) + 1 : 0;
  try {
    // A forwarded mail is a file of its own; otherwise it would be mixed into this one's text.
    const mail = await PostalMime.parse(bytes.subarray(start), { forceRfc822Attachments: true });
    if (mail.headers.some(({ key, value }) => FIELD_NAME.test(key) && value !== '')) return mail;
  } catch (error) {
    if (error instanceof RangeError) throw error;
    throw new AppError('FILE_CORRUPT', 'The mail is damaged and cannot be read.', { cause: error });
  }
  throw new AppError('FILE_CORRUPT', 'The file has no headers of a mail.');
}

function addresses(list: readonly Address[] | undefined): string {
  return (list ?? [])
    .flatMap((entry) => entry.group ?? [entry])
    .map(({ name, address }) =>
      name === '' || name === address ? (address ?? '') : `${name} <${address ?? ''}>`,
    )
    .join(', ');
}

export function isoDate(text: string | undefined): string {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? (text ?? '') : date.toISOString();
}
