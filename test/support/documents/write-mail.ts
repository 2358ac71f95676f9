import { CFB } from '@e965/xlsx';

export interface MailFile {
  headers?: Record<string, string>;
  text?: string;
  html?: string;
  /** Between its parts; a mail within a mail needs one of its own. */
  boundary?: string;
  attachments?: { name: string; type: string; content: Buffer | string }[];
}

/** A mail as it is sent. */
export function writeEml({
  headers = {},
  text,
  html,
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
    `${lines.join('')}Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\n` +
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

/** A mail as Outlook stores it. */
export function writeMsg({ headers = {}, text = '', attachments = [] }: MailFile): Buffer {
  const file = CFB.utils.cfb_new();
  const texts: Record<string, string> = {
    '0037': headers['Subject'] ?? '',
    '1000': text,
    '0C1A': headers['From'] ?? '',
    '007D': Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
  };
  CFB.utils.cfb_add(file, '/__properties_version1.0', Buffer.alloc(32));
  addTexts(file, '', texts);
  attachments.forEach(({ name, content }, index) => {
    const folder = `/__attach_version1.0_#${String(index).padStart(8, '0')}`;
    CFB.utils.cfb_add(file, `${folder}/__properties_version1.0`, Buffer.alloc(8));
    addTexts(file, folder, { '3707': name, '3704': name });
    CFB.utils.cfb_add(file, `${folder}/__substg1.0_37010102`, Buffer.from(content));
  });
  return CFB.write(file, { type: 'buffer' }) as Buffer;
}

function addTexts(file: Container, folder: string, texts: Record<string, string>): void {
  for (const [property, value] of Object.entries(texts))
    CFB.utils.cfb_add(file, `${folder}/__substg1.0_${property}001F`, Buffer.from(value, 'utf16le'));
}
