import { readFile, writeFile } from 'node:fs/promises';
import msgReader from '@kenjiuno/msgreader';
import type { FieldsData } from '@kenjiuno/msgreader';
import { AppError } from '../../../../schemas/app-error.js';
import type { MailIds } from '../parser-messages.js';
import type { Nest, ParseSource } from '../parse-source.js';
import type { Section } from '../section.js';
import { isoDate } from './eml-parser.js';
import { beyondLimit } from './limit-error.js';
import { mailIds, mailSections } from './mail-sections.js';

/** The package is of CommonJS and marks its default. */
const MsgReader = msgReader.default;

/**
 * A mail as Outlook stores it: headers, text or HTML, quotations, attachments.
 * @param onIds told of the mail's place in its thread
 * @throws AppError FILE_CORRUPT, FILE_TOO_COMPLEX
 */
export async function* parseMsg(
  source: ParseSource & { nest: Nest },
  onIds: (ids: MailIds) => void,
): AsyncGenerator<Section> {
  const { reader, mail } = await readMail(source.path);
  const header = (name: string): string | undefined =>
    new RegExp(String.raw`^${name}:[ \t]*([^\r\n]*(?:\r?\n[ \t][^\r\n]*)*)`, 'im').exec(
      mail.headers ?? '',
    )?.[1];
  const ids = mailIds({
    messageId: header('Message-ID') ?? mail.messageId,
    inReplyTo: header('In-Reply-To'),
    references: header('References'),
  });
  if (ids !== null) onIds(ids);
  const people = (type: 'to' | 'cc'): string =>
    (mail.recipients ?? [])
      .filter(({ recipType }) => (recipType ?? 'to') === type)
      .map((person) => nameOf(person.name, person.smtpAddress ?? person.email))
      .join(', ');
  yield* mailSections(
    {
      subject: mail.subject ?? '',
      headers: [
        { name: 'From', value: nameOf(mail.senderName, mail.senderSmtpAddress ?? mail.senderEmail) },
        { name: 'To', value: people('to') },
        { name: 'Cc', value: people('cc') },
        { name: 'Date', value: isoDate(mail.messageDeliveryTime ?? mail.clientSubmitTime ?? header('Date')) },
      ],
      text: mail.body ?? '',
      html: htmlOf(mail),
      attachments: (mail.attachments ?? []).map((attachment) => ({
        name: attachmentName(attachment),
        mimetype: attachment.innerMsgContent
          ? 'application/vnd.ms-outlook'
          : (attachment.attachMimeTag ?? ''),
        inline: attachment.attachmentHidden === true,
        async write(path, most) {
          const { content } = reader.getAttachment(attachment);
          if (content.length > most) throw beyondLimit('maxExpandedBytes', source.limits.maxExpandedBytes);
          await writeFile(path, content);
          return content.length;
        },
      })),
    },
    source,
  );
}

async function readMail(path: string): Promise<{ reader: InstanceType<typeof MsgReader>; mail: FieldsData }> {
  const bytes = await readFile(path);
  try {
    const reader = new MsgReader(new Uint8Array(bytes).buffer);
    const mail = reader.getFileData();
    if (mail.error === undefined && mail.dataType === 'msg') return { reader, mail };
    throw new Error(mail.error ?? 'no message');
  } catch (error) {
    // A short length is one of the file's own, beyond its end.
    if (error instanceof RangeError && /call stack|array length: \d{9}/i.test(error.message)) throw error;
    throw new AppError('FILE_CORRUPT', 'The mail of Outlook is damaged and cannot be read.', {
      cause: error,
    });
  }
}

function attachmentName({ fileName, fileNameShort, name, innerMsgContent }: FieldsData): string | null {
  const given = fileName ?? fileNameShort ?? name ?? null;
  return innerMsgContent && given !== null && !/\.msg$/i.test(given) ? `${given}.msg` : given;
}

function htmlOf({ bodyHtml, html, internetCodepage }: FieldsData): string {
  if (bodyHtml !== undefined && bodyHtml !== '') return bodyHtml;
  if (html === undefined) return '';
  return new TextDecoder(internetCodepage === 65001 ? 'utf-8' : 'windows-1252').decode(html);
}

function nameOf(name: string | undefined, address: string | undefined): string {
  if (address === undefined || address === '' || address === name) return name ?? '';
  return name === undefined || name === '' ? address : `${name} <${address}>`;
}
