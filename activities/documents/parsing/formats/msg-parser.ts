import { readFile, writeFile } from 'node:fs/promises';
import iconv from 'iconv-lite';
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

interface ReadMail {
  reader: InstanceType<typeof MsgReader>;
  mail: FieldsData;
}

/** The type of texts in the code page of the mail, at the end of the names of their parts. */
const TEXTS_OF_8_BITS = Buffer.from('001E', 'utf16le');

async function readMail(path: string): Promise<ReadMail> {
  const bytes = await readFile(path);
  try {
    const read = readBytes(bytes);
    if (!bytes.includes(TEXTS_OF_8_BITS)) return read;
    // Which code page these texts are in stands in the mail itself.
    const { messageCodepage, internetCodepage } = read.mail;
    const encoding = encodingOf(messageCodepage ?? internetCodepage);
    return readBytes(bytes, iconv.encodingExists(encoding) ? encoding : DEFAULT_ENCODING);
  } catch (error) {
    // A short length is one of the file's own, beyond its end.
    if (error instanceof RangeError && /call stack|array length: \d{9}/i.test(error.message)) throw error;
    throw damaged(error);
  }
}

function readBytes(bytes: Buffer, ansiEncoding?: string): ReadMail {
  const reader = new MsgReader(new Uint8Array(bytes).buffer);
  if (ansiEncoding !== undefined) reader.parserConfig = { ansiEncoding };
  const mail = reader.getFileData();
  if (mail.error === undefined && mail.dataType === 'msg') return { reader, mail };
  throw new Error(mail.error ?? 'no message');
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

const DEFAULT_ENCODING = 'windows-1252';
/** Windows' numbers of encodings, where the name is not the number with `cp` before it. */
const ENCODINGS: Readonly<Record<number, string>> = {
  1200: 'utf-16le',
  10000: 'macintosh',
  20127: DEFAULT_ENCODING,
  20866: 'koi8-r',
  20932: 'euc-jp',
  21866: 'koi8-u',
  38598: 'iso-8859-8',
  50220: 'iso-2022-jp',
  50221: 'iso-2022-jp',
  50222: 'iso-2022-jp',
  51932: 'euc-jp',
  51936: 'gb2312',
  51949: 'euc-kr',
  52936: 'gb2312',
  54936: 'gb18030',
  65000: 'utf-7',
  65001: 'utf-8',
};

function encodingOf(codePage: unknown): string {
  if (typeof codePage !== 'number') return DEFAULT_ENCODING;
  const named = ENCODINGS[codePage];
  if (named !== undefined) return named;
  const numbered = `cp${codePage}`;
  return iconv.encodingExists(numbered) ? numbered : DEFAULT_ENCODING;
}

function decode(bytes: Uint8Array, encoding: string): string {
  return iconv.encodingExists(encoding)
    ? iconv.decode(Buffer.from(bytes), encoding)
    : new TextDecoder(encoding).decode(bytes);
}

function htmlOf({ bodyHtml, html, internetCodepage }: FieldsData): string {
  const text = textOf(bodyHtml) ?? '';
  if (text !== '') return text;
  if (!(html instanceof Uint8Array)) return textOf(html) ?? '';
  return decode(html, encodingOf(internetCodepage));
}

function nameOf(givenName: string | undefined, givenAddress: string | undefined): string {
  const [name, address] = [textOf(givenName), textOf(givenAddress)];
  if (address === undefined || address === '' || address === name) return name ?? '';
  return name === undefined || name === '' ? address : `${name} <${address}>`;
}
