import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../../../schemas/app-error.js';
import { dieWithParent } from '../die-with-parent.js';
import { findOnPath } from '../find-on-path.js';
import { oleEntryNames } from '../ole-directory.js';
import { openFileBytes } from '../random-access-bytes.js';

export const NO_LIBREOFFICE =
  'Files of this type are read by LibreOffice, which is not installed on this server (the program soffice on PATH). ' +
  'Otherwise save it as .docx, .pptx or .pdf.';

interface Conversion {
  /** The reader that must take the file; another would be chosen by what the content looks like. */
  from: string;
  to: 'docx' | 'pptx';
  writer: string;
}

/** Names of filters: help.libreoffice.org, "File Conversion Filter Names". */
const CONVERSIONS: Record<'rtf' | 'ppt', Conversion> = {
  rtf: { from: 'Rich Text Format', to: 'docx', writer: 'MS Word 2007 XML' },
  ppt: { from: 'MS PowerPoint 97', to: 'pptx', writer: 'Impress MS PowerPoint 2007 XML' },
};

function setting(path: string, name: string, value: string | number): string {
  return `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`;
}

/**
 * A document may hold macros, and pictures and fields that lie elsewhere: no macro runs, no link is followed, and
 * what would still go out over HTTP meets a proxy that is not there.
 */
const SETTINGS = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">',
  setting('Office.Common/Security/Scripting', 'DisableMacrosExecution', 'true'),
  setting('Office.Common/Security/Scripting', 'MacroSecurityLevel', 3),
  setting('Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', 'true'),
  setting('Office.Common/Security/Scripting', 'DisableActiveContent', 'true'),
  setting('Office.Writer/Content/Update', 'Link', 0),
  setting('Office.Calc/Content/Update', 'Link', 1),
  setting('Inet/Settings', 'ooInetProxyType', 2),
  ...['HTTP', 'HTTPS', 'FTP'].flatMap((protocol) => [
    setting('Inet/Settings', `ooInet${protocol}ProxyName`, '127.0.0.1'),
    setting('Inet/Settings', `ooInet${protocol}ProxyPort`, 9),
  ]),
  '</oor:items>',
].join('\n');

/** It ends with this code once it has set a new profile up, to be started again (`desktop/exithelper.h`). */
const RESTART = 81;
/** What it says is only looked at when it fails. */
const KEPT_OUTPUT = 2000;

/** The program on PATH; null where there is none. */
export function findLibreOffice(): string | null {
  return findOnPath('soffice', (found) => {
    const program = realpathSync(found);
    // The script starts it through another process, which a signal would not pass.
    const started = join(dirname(program), 'soffice.bin');
    return existsSync(started) ? started : program;
  });
}

/** Whether a presentation of PowerPoint 97 to 2003 has a password: [MS-PPT] 2.1.2, 2.3.7. */
export async function hasPassword(path: string): Promise<boolean> {
  const bytes = await openFileBytes(path);
  try {
    return (await oleEntryNames(bytes))?.includes('EncryptedSummary') === true;
  } finally {
    await bytes.close();
  }
}

/**
 * Has LibreOffice write a file in a format that a reader of ours takes, and reads that. The limits of the parser
 * process hold for it as well: it is started by it and ends with it.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE without LibreOffice, FILE_CORRUPT for what it cannot read
 */
export async function* readConverted<T>(
  path: string,
  kind: keyof typeof CONVERSIONS,
  read: (converted: string) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const program = findLibreOffice();
  if (program === null) throw new AppError('UNSUPPORTED_MEDIA_TYPE', NO_LIBREOFFICE);
  const { from, to, writer } = CONVERSIONS[kind];
  const directory = await mkdtemp(join(dirname(path), 'office-'));
  try {
    const profile = join(directory, 'profile');
    await mkdir(join(profile, 'user'), { recursive: true });
    await writeFile(join(profile, 'user', 'registrymodifications.xcu'), SETTINGS);
    const outputDirectory = join(directory, 'converted');
    await mkdir(outputDirectory);
    // Killed, it leaves temporary files behind: they go with the document's directory.
    const temporary = join(directory, 'temporary');
    await mkdir(temporary);
    const line = [
      ...dieWithParent(),
      program,
      // Runs at once share nothing.
      `-env:UserInstallation=${pathToFileURL(profile).href}`,
      '--headless',
      '--norestore',
      '--nologo',
      '--nodefault',
      '--nolockcheck',
      `--infilter=${from}`,
      '--convert-to',
      `${to}:${writer}`,
      '--outdir',
      outputDirectory,
      path,
    ];
    const first = await run(line, temporary);
    const { said } = first.code === RESTART ? await run(line, temporary) : first;
    const [converted] = await readdir(outputDirectory);
    if (converted === undefined)
      throw new AppError('FILE_CORRUPT', 'LibreOffice cannot read the file; save it anew, or as .pdf.', {
        cause: new Error(said),
      });
    yield* read(join(outputDirectory, converted));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Runs to its end, however that comes. */
async function run(
  [command, ...args]: string[],
  temporary: string,
): Promise<{ code: number | null; said: string }> {
  // eslint-disable-next-line no-restricted-properties -- handed on to the child, not read for a setting
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(command!, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-KEPT_OUTPUT)));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, said: `ended with ${signal ?? code}: ${said}` }));
  });
}
