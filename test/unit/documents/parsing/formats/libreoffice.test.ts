import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { abilitiesOf } from '../../../../../activities/documents/parsing/abilities.js';
import { supportedTypes } from '../../../../../activities/documents/parsing/file-types.js';
import { findLibreOffice } from '../../../../../activities/documents/parsing/formats/libreoffice.js';
import { startTestParser } from '../../../../support/documents/parse-file.js';
import type { TestParser } from '../../../../support/documents/parse-file.js';
import { writeOpenDocument } from '../../../../support/documents/write-office.js';
import { until } from '../../../../support/until.js';
import { endServer, listenOnLoopback } from '../../../../support/loopback-server.js';

const RTF = String.raw`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times New Roman;}}
{\stylesheet{\s1\outlinelevel0 heading 1;}}
{\pard\s1\outlinelevel0 Mill rules\par}
{\pard Soci\'e9t\'e9 du moulin, \u26481?\u20140?.\par}
\trowd\cellx2000\cellx4000\intbl Hours\cell Price\cell\row
\trowd\cellx2000\cellx4000\intbl nine\cell four\cell\row
}`;

const realPath = process.env['PATH'];
let directory: string;
let parser: TestParser;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tamis-office-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
beforeEach(async () => {
  parser = await startTestParser();
});
afterEach(async () => {
  process.env['PATH'] = realPath;
  await parser.close();
});

/** A program of this name on PATH, and no other of its name. */
async function putOnPath(script: string): Promise<void> {
  const path = join(directory, 'soffice');
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  process.env['PATH'] = `${directory}${delimiter}${realPath}`;
}

function extensionsNow(): string[] {
  return supportedTypes(abilitiesOf({ ocrLanguages: [], transcriber: false })).extensions;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('what LibreOffice reads', () => {
  it('is named while the program is on PATH, and refused with what to install otherwise', async () => {
    await putOnPath('exit 0');
    expect(extensionsNow()).toEqual(expect.arrayContaining(['rtf', 'ppt']));
    expect(findLibreOffice()).toBe(join(directory, 'soffice'));
    process.env['PATH'] = '/nowhere';
    expect(extensionsNow()).not.toContain('rtf');
    expect(abilitiesOf({ ocrLanguages: [], transcriber: false }).noLibreOffice).toMatch(/soffice on PATH/);
  });

  it('fails with a code when the program is gone by the time it is read', async () => {
    // What bounds a parser process stays.
    for (const tool of ['prlimit', 'setpriv'])
      await symlink(join('/usr/bin', tool), join(directory, tool)).catch(() => undefined);
    await rm(join(directory, 'soffice'), { force: true });
    process.env['PATH'] = directory;
    await expect(parser.parse('rtf', RTF)).rejects.toMatchObject({
      code: 'UNSUPPORTED_MEDIA_TYPE',
      message: expect.stringContaining('LibreOffice'),
    });
  });

  it('is damaged when the program writes nothing, and nothing is left', async () => {
    await putOnPath('echo "Error: source file could not be loaded"');
    await expect(parser.parse('rtf', RTF)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    expect(await parser.leftovers()).toEqual([]);
  });

  it('has its temporary files in the directory of the document', async () => {
    const seen = join(directory, 'seen');
    await putOnPath(`echo x > "$TMPDIR/lu1.tmp" && echo "$TMPDIR" > '${seen}'`);
    await expect(parser.parse('rtf', RTF)).rejects.toMatchObject({ code: 'FILE_CORRUPT' });
    const temporary = (await readFile(seen, 'utf8')).trim();
    expect(temporary).toMatch(/\/tamis-formats-\w+\/office-\w+\//);
    await expect(readFile(join(temporary, 'lu1.tmp'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await parser.leftovers()).toEqual([]);
  });

  it.each([
    ['a cancel', {}, 'cancelled'],
    ['the time limit', { limits: { timeoutMs: 6000 } }, 'longer than 6 s'],
  ])('ends with its parser at %s', async (_name, more, message) => {
    const pidFile = join(directory, 'pid');
    await rm(pidFile, { force: true });
    await putOnPath(`echo $$ > ${pidFile}; exec sleep 600`);
    const caller = new AbortController();
    const parsed = parser
      .parse('rtf', RTF, { ...more, signal: caller.signal })
      .catch((error: unknown) => error);
    const pid = await until('the program runs', async () => {
      return Number(await readFile(pidFile, 'utf8').catch(() => '')) || false;
    });
    expect(isRunning(pid)).toBe(true);
    if (message === 'cancelled') caller.abort(new Error('cancelled'));
    expect(String(await parsed)).toContain(message);
    await until('the program is gone', async () => !isRunning(pid), { withinMs: 5000 });
  });

  it('counts in the memory of its parser', async () => {
    const eater = `const held = []; setInterval(() => held.push(Buffer.alloc(16 * 1024 * 1024, 1)), 20);`;
    await putOnPath(`exec ${process.execPath} -e '${eater}'`);
    const small = await startTestParser({ memoryMb: 400 });
    await expect(small.parse('rtf', RTF)).rejects.toMatchObject({
      code: 'FILE_TOO_COMPLEX',
      details: { limit: 'memory_mb' },
    });
    await small.close();
  });
});

const program = findLibreOffice();
const describeInstalled = program === null ? describe.skip : describe;
describeInstalled('LibreOffice, where it is installed', () => {
  let server: Server;
  let url: string;
  const asked: string[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    ({ url } = await listenOnLoopback(server));
  });
  afterAll(() => endServer(server));

  it('reads RTF: headings, letters of code pages and beyond, tables', async () => {
    const { text, chunks, report } = await parser.parse('rtf', RTF);
    expect(text).toContain('Société du moulin, 東京.');
    expect(text).toMatch(/\| nine +\| four +\|/);
    expect(chunks[0]?.headingPath).toEqual(['Mill rules']);
    expect(report).toMatchObject({ parser: 'libreoffice', degraded: false });
    expect((await parser.parse('doc', RTF)).text).toContain('Société du moulin');
    expect(await parser.leftovers()).toEqual([]);
  });

  it('reads PPT slide by slide, with what the speaker says', async () => {
    const odp = join(directory, 'slides.odp');
    const slide = (title: string, line: string, said: string): string =>
      `<draw:page draw:name="${title}" draw:master-page-name="m"><draw:frame presentation:class="title" svg:width="20cm" svg:height="2cm"><draw:text-box><text:p>${title}</text:p></draw:text-box></draw:frame>` +
      `<draw:frame svg:width="20cm" svg:height="9cm" svg:y="4cm"><draw:text-box><text:p>${line}</text:p></draw:text-box></draw:frame>` +
      `<presentation:notes><draw:frame presentation:class="notes" svg:width="9cm" svg:height="9cm"><draw:text-box><text:p>${said}</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>`;
    await writeFile(
      odp,
      writeOpenDocument(
        'presentation',
        slide('Opening', 'The mill opens at nine.', 'Greet the miller.') +
          slide('Prices', 'Four euros.', 'Smile.'),
      ),
    );
    // With a new profile it wants to be started a second time.
    for (const _time of [1, 2])
      spawnSync(
        program ?? '',
        [
          `-env:UserInstallation=file://${directory}/writer`,
          '--headless',
          '--convert-to',
          'ppt',
          '--outdir',
          directory,
          odp,
        ],
        { stdio: 'ignore' },
      );
    const bytes = await readFile(join(directory, 'slides.ppt'));
    const { text, chunks, pages } = await parser.parse('ppt', bytes);
    expect(pages).toBe(2);
    expect(text).toContain('The mill opens at nine.');
    expect(text).toContain('Greet the miller.');
    expect(chunks.find((chunk) => chunk.text.includes('Four euros.'))?.page).toBe(2);
    await expect(parser.parse('ppt', bytes.subarray(0, 4000))).rejects.toMatchObject({
      code: 'FILE_CORRUPT',
    });
  }, 60_000);

  it('fetches nothing that a document names', async () => {
    const field = (instruction: string): string =>
      String.raw`{\field{\*\fldinst ${instruction}}{\fldrslt shown}}`;
    const { text } = await parser.parse(
      'rtf',
      String.raw`{\rtf1{\*\template ${url}/template.dot}Before. ` +
        field(`INCLUDEPICTURE "${url}/picture.png" \\d`) +
        field(`INCLUDETEXT "${url}/text.txt"`) +
        field(`INCLUDETEXT "file:///etc/passwd"`) +
        field(`LINK Excel.Sheet.8 "${url}/sheet.xls"`) +
        ' After.}',
    );
    expect(text).toContain('Before.');
    expect(text).toContain('After.');
    expect(text).not.toContain('root:');
    expect(asked).toEqual([]);
  }, 60_000);
});
