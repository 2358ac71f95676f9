import { CFB } from '@e965/xlsx';
import iconv from 'iconv-lite';

export interface MailFile {
  headers?: Record<string, string>;
  text?: string;
  html?: string;
  /** The text and the HTML say the same: programs show one of them. */
  alternative?: boolean;
  /** Between its parts; a mail within a mail needs one of its own. */
  boundary?: string;
  attachments?: { name: string; type: string; content: Buffer | string }[];
}

/** A mail as it is sent. */
export function writeEml({
  headers = {},
  text,
  html,
  alternative = false,
  attachments = [],
  boundary = 'outer',
}: MailFile): Buffer {
  const part = (type: string, content: Buffer | string, more = ''): string => {
    // RFC 2046, 5.2.1: a mail within stands as it is.
    const isMail = type === 'message/rfc822';
    const body = isMail
      ? content.toString()
      : Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n');
    const encoding = isMail ? '8bit' : 'base64';
    return `--${boundary}\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n${more}\r\n${body}\r\n`;
  };
  const lines = Object.entries({ 'MIME-Version': '1.0', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(
    `${lines.join('')}Content-Type: multipart/${alternative ? 'alternative' : 'mixed'}; boundary="${boundary}"\r\n\r\n` +
      (text === undefined ? '' : part('text/plain; charset=utf-8', text)) +
      (html === undefined ? '' : part('text/html; charset=utf-8', html)) +
      attachments
        .map(({ name, type, content }) =>
          part(type, content, `Content-Disposition: attachment; filename="${name}"\r\n`),
        )
        .join('') +
      `--${boundary}--\r\n`,
  );
}

type Container = ReturnType<typeof CFB.utils.cfb_new>;

/** Of mails whose texts are not Unicode, as Outlook wrote them up to 2002. */
export interface EncodedMail {
  /** The encoding of its texts as iconv-lite names it. */
  encoding?: string;
  /** Windows' number of that. */
  messageCodepage?: number;
  /** Of the HTML, which is bytes in every mail. */
  internetCodepage?: number;
  htmlBytes?: Buffer;
}

/** A mail as Outlook stores it. */
export function writeMsg(
  { headers = {}, text = '', attachments = [] }: MailFile,
  { encoding, messageCodepage, internetCodepage, htmlBytes }: EncodedMail = {},
): Buffer {
  const file = CFB.utils.cfb_new();
  const numbers = [
    [0x3ffd0003, messageCodepage],
    [0x3fde0003, internetCodepage],
  ] as const;
  const properties = numbers.flatMap(([tag, value]) => {
    if (value === undefined) return [];
    const property = Buffer.alloc(16);
    property.writeUInt32LE(tag, 0);
    property.writeUInt32LE(value, 8);
    return [property];
  });
  const texts: Record<string, string> = {
    '0037': headers['Subject'] ?? '',
    '1000': text,
    '0C1A': headers['From'] ?? '',
    '007D': Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
  };
  CFB.utils.cfb_add(file, '/__properties_version1.0', Buffer.concat([Buffer.alloc(32), ...properties]));
  addTexts(file, '', texts, encoding);
  if (htmlBytes !== undefined) CFB.utils.cfb_add(file, '/__substg1.0_10130102', htmlBytes);
  attachments.forEach(({ name, content }, index) => {
    const folder = `/__attach_version1.0_#${String(index).padStart(8, '0')}`;
    CFB.utils.cfb_add(file, `${folder}/__properties_version1.0`, Buffer.alloc(8));
    addTexts(file, folder, { '3707': name, '3704': name });
    CFB.utils.cfb_add(file, `${folder}/__substg1.0_37010102`, Buffer.from(content));
  });
  return CFB.write(file, { type: 'buffer' }) as Buffer;
}

function addTexts(file: Container, folder: string, texts: Record<string, string>, encoding?: string): void {
  const type = encoding === undefined ? '001F' : '001E';
  for (const [property, value] of Object.entries(texts))
    CFB.utils.cfb_add(
      file,
      `${folder}/__substg1.0_${property}${type}`,
      iconv.encode(value, encoding ?? 'utf-16le'),
    );
}
