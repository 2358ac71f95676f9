import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { CFB } from '@e965/xlsx';
import { findLibreOffice } from '../../activities/documents/parsing/formats/libreoffice.js';

export interface ReferenceFile {
  name: string;
  bytes: Buffer;
}

/** The text that a program which people trust finds in files; by name, none for a file that it does not read. */
interface ReferenceReader {
  program: string;
  extensions: readonly string[];
  isInstalled(): boolean;
  read(files: readonly ReferenceFile[]): Promise<Map<string, string>>;
}

function works(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).error === undefined;
}

async function inDirectory<T>(
  files: readonly ReferenceFile[],
  use: (directory: string, paths: string[]) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'tamis-reference-'));
  try {
    const paths = files.map(({ name }) => join(directory, name));
    await Promise.all(files.map(({ bytes }, index) => writeFile(paths[index]!, bytes)));
    return await use(directory, paths);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function textOf(path: string): string | null {
  const { status, stdout } = spawnSync('pdftotext', ['-enc', 'UTF-8', path, '-'], { maxBuffer: 1 << 28 });
  return status === 0 ? stdout.toString('utf8') : null;
}

function found(names: readonly string[], texts: readonly (string | null)[]): Map<string, string> {
  return new Map(
    names.flatMap((name, index) => {
      const text = texts[index] ?? null;
      return text === null ? [] : [[name, text] as const];
    }),
  );
}

const PDFTOTEXT: ReferenceReader = {
  program: 'pdftotext',
  extensions: ['pdf'],
  isInstalled: () => works('pdftotext', '-v'),
  read: (files) =>
    inDirectory(files, async (_directory, paths) =>
      found(
        files.map(({ name }) => name),
        paths.map(textOf),
      ),
    ),
};

/** What LibreOffice writes, and the extensions that it does so for; presentations have no filter for text. */
const WRITES = [
  { target: 'txt:Text (encoded):UTF8', extensions: ['docx', 'doc', 'odt', 'rtf'], read: 'text' },
  { target: 'csv:Text - txt - csv (StarCalc):44,34,76', extensions: ['xlsx', 'xls', 'ods'], read: 'text' },
  { target: 'pdf', extensions: ['odp', 'pptx'], read: 'pdf' },
] as const;

const LIBREOFFICE: ReferenceReader = {
  program: 'LibreOffice',
  extensions: WRITES.flatMap(({ extensions }) => extensions),
  isInstalled: () => findLibreOffice() !== null && works('pdftotext', '-v'),
  read: (files) =>
    inDirectory(files, async (directory) => {
      const texts = new Map<string, string>();
      for (const { target, extensions, read } of WRITES) {
        const group = files.filter(({ name }) =>
          (extensions as readonly string[]).includes(extname(name).slice(1)),
        );
        if (group.length === 0) continue;
        const output = join(directory, 'out', target.slice(0, 3));
        await mkdir(output, { recursive: true });
        // Files of one name and another extension would be written over each other.
        const inputs = group.map((_, index) => join(directory, `${index}${extname(group[index]!.name)}`));
        await Promise.all(group.map(({ bytes }, index) => writeFile(inputs[index]!, bytes)));
        const profile = `-env:UserInstallation=file://${directory}/profile`;
        const line = [profile, '--headless', '--convert-to', target, '--outdir', output, ...inputs];
        // A new profile wants a second start: decision 75.
        for (let status: number | null = 81, times = 0; status === 81 && times < 2; times++)
          ({ status } = spawnSync(findLibreOffice()!, line, { stdio: 'ignore' }));
        for (const [index, { name }] of group.entries()) {
          const path = join(output, `${index}.${target.slice(0, 3)}`);
          const text = read === 'pdf' ? textOf(path) : await readFile(path, 'utf8').catch(() => null);
          if (text !== null) texts.set(name, text);
        }
      }
      return texts;
    }),
};

/** Subject, bodies and attachments of text, as the standard library decodes them. */
const MAIL_SCRIPT = `
import email, email.policy, sys, html, re
for path in sys.argv[1:]:
    message = email.message_from_binary_file(open(path, 'rb'), policy=email.policy.default)
    print(message['subject'] or '')
    for part in message.walk():
        kind = part.get_content_type()
        if kind == 'message/rfc822': continue
        if part is not message and part['subject']: print(part['subject'])
        if kind.startswith('text/'):
            text = part.get_content()
            print(re.sub('<[^>]*>', ' ', html.unescape(text)) if kind == 'text/html' else text)
    print('\\x00')
`;

/** A script that prints what it finds in each file, and a NUL behind it. */
function python(program: string, extensions: readonly string[], script: string): ReferenceReader {
  return {
    program,
    extensions,
    isInstalled: () => works('python3', '-V'),
    read: (files) =>
      inDirectory(files, async (_directory, paths) => {
        const env = { ...process.env, PYTHONIOENCODING: 'utf-8' };
        const { stdout } = spawnSync('python3', ['-c', script, ...paths], { env, maxBuffer: 1 << 28 });
        return found(
          files.map(({ name }) => name),
          stdout.toString('utf8').split('\0'),
        );
      }),
  };
}

/** Chapters without their tags, in the order of the archive. */
const BOOK_SCRIPT = `
import html, re, sys, zipfile
for path in sys.argv[1:]:
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if not name.endswith(('.xhtml', '.html')): continue
            text = re.sub('(?s)<head.*?</head>', ' ', book.read(name).decode('utf-8'))
            text = re.sub('</(?:p|h[1-6]|li|td)>', '\\n\\n', text)
            print(html.unescape(re.sub('<[^>]*>', ' ', text)))
    print('\\x00')
`;

/** Subject, sender and text of a mail of Outlook, and the names of its attachments (MS-OXMSG, 2.1.3; MS-OXPROPS). */
const PROPERTY = /__substg1\.0_(?:0037|0C1A|1000|3707)001F$/;

const COMPOUND_FILE: ReferenceReader = {
  program: 'a reader of compound files',
  extensions: ['msg'],
  isInstalled: () => true,
  read: (files) =>
    Promise.resolve(
      found(
        files.map(({ name }) => name),
        files.map(({ bytes }) =>
          (CFB.read(bytes, { type: 'buffer' }).FileIndex as { name: string; content: Uint8Array }[])
            .filter(({ name }) => PROPERTY.test(name))
            .map(({ content }) => Buffer.from(content).toString('utf16le'))
            .join('\n\n'),
        ),
      ),
    ),
};

export const REFERENCE_READERS: readonly ReferenceReader[] = [
  PDFTOTEXT,
  LIBREOFFICE,
  python('Python’s email', ['eml'], MAIL_SCRIPT),
  python('Python’s zipfile', ['epub'], BOOK_SCRIPT),
  COMPOUND_FILE,
];
