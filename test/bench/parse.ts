/**
 * `npm run bench:parse`: pages or megabytes a second and peak memory of reading documents, a format at a time in one
 * parser process as a worker has it, chunks included. Beside each PDF the same by `pdftotext` where it is on PATH, else
 * by pdf.js with nothing around it; beside the Word document by LibreOffice where it is on PATH.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FileKind } from '../../activities/documents/parsing/file-types.js';
import { createParserPool } from '../../activities/documents/parsing/parser-pool.js';
import { processMemory } from '../../activities/documents/parsing/process-memory.js';
import { generatedMail, generatedParagraphs, generatedTable } from '../support/generated-files.js';
import { generatedText } from '../support/generated-text.js';
import { samplePages } from '../support/documents/sample-pages.js';
import { writeDocx } from '../support/documents/write-docx.js';
import { writePdf } from '../support/documents/write-pdf.js';
import { reportBench } from './bench-report.js';

const MIB = 1024 * 1024;
const PAGES = Number(process.env['BENCH_PAGES'] ?? 4000);
const TEXT_MB = Number(process.env['BENCH_TEXT_MB'] ?? 500);
const ROWS = Number(process.env['BENCH_ROWS'] ?? 1_000_000);
const MAIL_MB = Number(process.env['BENCH_MAIL_MB'] ?? 300);
const HOUR_MS = 3_600_000;

const directory = await mkdtemp(join(tmpdir(), 'tamis-bench-'));
const rows: Record<string, string | number>[] = [];

interface Measured {
  seconds: number;
  peakMb: number;
}

function add(
  what: string,
  by: string,
  measured: Measured,
  { pages, bytes }: { pages?: number; bytes: number },
): void {
  const { seconds, peakMb } = measured;
  rows.push({
    document: what,
    'read by': by,
    seconds: seconds.toFixed(1),
    'pages a second': pages === undefined ? '' : Math.round(pages / seconds),
    'MB a second': (bytes / MIB / seconds).toFixed(2),
    'peak MiB': peakMb,
  });
  process.stderr.write(`${what}, ${by}: ${seconds.toFixed(1)} s, ${peakMb} MiB\n`);
}

/** A new process for each: its start is not counted, its memory is. */
async function readByTamis(path: string, kind: FileKind): Promise<Measured> {
  const pool = createParserPool({ size: 1, limits: { timeoutMs: HOUR_MS } });
  try {
    const { report } = await pool.parseAndChunk({
      path,
      kind,
      filename: 'bench',
      outputPath: `${path}.jsonl`,
      chunking: { chunkSize: 512, overlapRate: 0.2 },
    });
    return { seconds: report!.duration_ms / 1000, peakMb: report!.peak_memory_mb! };
  } finally {
    await pool.close();
    await rm(`${path}.jsonl`, { force: true });
  }
}

async function readByProgram(command: string, args: string[]): Promise<Measured> {
  const began = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('close', resolve).on('error', reject),
  );
  let peak = 0;
  const watch = setInterval(() => {
    void processMemory(child.pid!).then((bytes) => (peak = Math.max(peak, bytes ?? 0)));
  }, 20);
  const code = await ended;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, peakMb: Math.ceil(peak / MIB) };
}

function isOnPath(command: string): boolean {
  return spawnSync(command, ['-v'], { stdio: 'ignore' }).error === undefined;
}

const hasPdftotext = isOnPath('pdftotext');

async function readByEngine(path: string): Promise<Measured> {
  return hasPdftotext
    ? readByProgram('pdftotext', [path, join(directory, 'out.txt')])
    : readByProgram(process.execPath, [
        fileURLToPath(new URL('./read-with-pdfjs.mjs', import.meta.url)),
        path,
      ]);
}

async function put(name: string, bytes: Buffer | string): Promise<{ path: string; bytes: number }> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  return { path, bytes: (await stat(path)).size };
}

/** Written as it is generated. */
async function putGenerated(
  name: string,
  content: Iterable<string>,
): Promise<{ path: string; bytes: number }> {
  const path = join(directory, name);
  const file = await open(path, 'w');
  for (const fragment of content) await file.writeFile(fragment);
  await file.close();
  return { path, bytes: (await stat(path)).size };
}

try {
  for (const pages of [Math.min(400, PAGES), PAGES]) {
    const pdf = await put(`${pages}.pdf`, writePdf(samplePages(pages)));
    const what = `PDF of ${pages} pages`;
    add(what, 'Tamis', await readByTamis(pdf.path, 'pdf'), { ...pdf, pages });
    add(what, hasPdftotext ? 'pdftotext' : 'pdf.js alone', await readByEngine(pdf.path), { ...pdf, pages });
  }

  const paragraphs = generatedText(1, 20_000).split('\n\n');
  const docx = await put('paragraphs.docx', writeDocx(paragraphs.map((paragraph) => ({ paragraph }))));
  add('DOCX of 20,000 paragraphs', 'Tamis', await readByTamis(docx.path, 'docx'), docx);
  if (isOnPath('soffice')) {
    const args = ['--headless', '--convert-to', 'txt:Text', '--outdir', directory, docx.path];
    add('DOCX of 20,000 paragraphs', 'LibreOffice', await readByProgram('soffice', args), docx);
  }

  const html = `<body>${paragraphs.map((paragraph, i) => `${i % 50 === 0 ? `<h2>Part ${i}</h2>` : ''}<p>${paragraph}</p>`).join('')}`;
  const page = await put('page.html', html);
  add(`HTML of ${Math.round(page.bytes / MIB)} MB`, 'Tamis', await readByTamis(page.path, 'html'), page);

  const markdown = await putGenerated(
    'text.md',
    generatedParagraphs(Math.ceil(TEXT_MB / 10), (seed) => `# Part ${seed}\n\n`),
  );
  add(`Markdown of ${Math.ceil(TEXT_MB / 10)} MB`, 'Tamis', await readByTamis(markdown.path, 'md'), markdown);

  const text = await putGenerated('text.txt', generatedParagraphs(TEXT_MB));
  add(`text of ${TEXT_MB} MB`, 'Tamis', await readByTamis(text.path, 'txt'), text);
  await rm(text.path);

  const table = await putGenerated('table.csv', generatedTable(ROWS));
  add(`CSV of ${ROWS} rows`, 'Tamis', await readByTamis(table.path, 'csv'), table);

  const mail = await putGenerated('mail.eml', generatedMail(MAIL_MB));
  add(`mail of ${MAIL_MB} MB`, 'Tamis', await readByTamis(mail.path, 'eml'), mail);
} finally {
  await rm(directory, { recursive: true, force: true });
  if (rows.length > 0) reportBench('parse', 'Reading documents', rows);
}
