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
      textOf(mail.headers) ?? '',
    )?.[1];
  const ids = mailIds({
    messageId: header('Message-ID') ?? textOf(mail.messageId),
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
      subject: textOf(mail.subject) ?? '',
      headers: [
        { name: 'From', value: nameOf(mail.senderName, mail.senderSmtpAddress ?? mail.senderEmail) },
        { name: 'To', value: people('to') },
        { name: 'Cc', value: people('cc') },
        {
          name: 'Date',
          value: isoDate(textOf(mail.messageDeliveryTime) ?? textOf(mail.clientSubmitTime) ?? header('Date')),
        },
      ],
      text: textOf(mail.body) ?? '',
      html: htmlOf(mail),
      attachments: (mail.attachments ?? []).map((attachment) => ({
        name: attachmentName(attachment),
        mimetype: attachment.innerMsgContent
          ? 'application/vnd.ms-outlook'
          : (textOf(attachment.attachMimeTag) ?? ''),
        inline: attachment.attachmentHidden === true,
        async write(path, most) {
          const content = contentOf(() => reader.getAttachment(attachment));
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
    throw damaged(error);
  }
}

function damaged(cause: unknown): AppError {
  return new AppError('FILE_CORRUPT', 'The mail of Outlook is damaged and cannot be read.', { cause });
}

/** Of a damaged mail a property may be of any type. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** @throws AppError FILE_CORRUPT */
function contentOf(read: () => { content: Uint8Array }): Uint8Array {
  try {
    const { content } = read();
    return Buffer.from(content);
  } catch (error) {
    throw damaged(error);
  }
}

function attachmentName({ fileName, fileNameShort, name, innerMsgContent }: FieldsData): string | null {
  const given = textOf(fileName) ?? textOf(fileNameShort) ?? textOf(name) ?? null;
  return innerMsgContent && given !== null && !/\.msg$/i.test(given) ? `${given}.msg` : given;
}

function htmlOf({ bodyHtml, html, internetCodepage }: FieldsData): string {
  const text = textOf(bodyHtml) ?? '';
  if (text !== '') return text;
  if (!(html instanceof Uint8Array)) return textOf(html) ?? '';
  return new TextDecoder(internetCodepage === 65001 ? 'utf-8' : 'windows-1252').decode(html);
}

function nameOf(givenName: string | undefined, givenAddress: string | undefined): string {
  const [name, address] = [textOf(givenName), textOf(givenAddress)];
  if (address === undefined || address === '' || address === name) return name ?? '';
  return name === undefined || name === '' ? address : `${name} <${address}>`;
}
