import { openChunkWriter } from './chunk-file.js';
import { createChunker } from './chunker.js';
import { storableText } from '../../text/clean-text.js';
import { stripInvisible } from '../../text/invisible-characters.js';
import { createAttachmentCollector } from './formats/attachment-collector.js';
import { parseDocument } from './parse-document.js';
import type { ParsedSections } from './parse-source.js';
import { drawPage } from './page-picture.js';
import { createPictureCollector } from './pictures/picture-collector.js';
import { writeText } from './write-text.js';
import type { ParseJob, ParseProgress, ReadDocument } from './parser-messages.js';
import { createReportReader } from './report-reader.js';
import type { ReportReader } from './report-reader.js';
import type { Section } from './section.js';

const PROGRESS_EVERY_MS = 500;

/** Where the length of the text changes, its place in the source is no longer known. */
function withTexts({ charStart, ...section }: Section, change: (text: string) => string): Section {
  const text = change(section.text);
  const known = charStart !== undefined && text.length === section.text.length;
  return { ...section, headingPath: section.headingPath.map(change), text, ...(known && { charStart }) };
}

/**
 * Letters composed (NFC): the index folds `\u00e9` to `e`, but not `e` with a combining accent, which files from macOS
 * and some PDF hold instead. What no store takes is a space: escapes in JSON, XML and mails stand for any character,
 * and parsers read them after the text was cleaned.
 */
function composed(text: string): string {
  return storableText(text.normalize('NFC'));
}

/** What a person would see of a section: a model would also read what is hidden in it. */
function visible(given: Section, report: ReportReader): Section {
  const section = withTexts(given, composed);
  const shown = withTexts(section, stripInvisible);
  report.see(section, shown);
  return shown;
}

async function* visibleOf(
  sections: AsyncIterable<Section> | Iterable<Section>,
  report: ReportReader,
): AsyncGenerator<Section> {
  for await (const section of sections) yield visible(section, report);
}

function mailOf({ mail }: ParsedSections): Pick<ReadDocument, 'mail'> {
  const ids = mail?.() ?? null;
  return ids === null ? {} : { mail: ids };
}

/**
 * Parses one document into its output file, section by section, as chunks or as text. Runs in a parser process.
 */
export async function runParseJob(
  job: ParseJob,
  onProgress: (progress: ParseProgress) => void,
): Promise<ReadDocument> {
  const { output } = job;
  if ('page' in output) return drawPage({ ...job, output });
  const pictures = job.pictures && createPictureCollector(job.pictures.directory, job.pictures.limits);
  const attachments = job.attachments && createAttachmentCollector(job.attachments.directory);
  const parsed = await parseDocument({ ...job, pictures, attachments });
  const report = createReportReader(parsed, job.kind, pictures);
  const encodingOf = (): Pick<ReadDocument, 'encoding'> =>
    parsed.encoding === undefined ? {} : { encoding: parsed.encoding };
  if ('maxCharacters' in output) {
    const written = await writeText(visibleOf(parsed.sections, report), job.outputPath, output.maxCharacters);
    const pages = parsed.pages()?.total ?? null;
    return {
      chunkCount: 0,
      tokens: 0,
      characters: written,
      pages,
      ...encodingOf(),
      outputPath: job.outputPath,
      report: report.end(),
    };
  }
  const chunker = createChunker(output.chunking);
  const writer = await openChunkWriter(job.outputPath);
  let chunkCount = 0;
  let tokens = 0;
  let characters = 0;
  let reported = Date.now();
  const write = async (chunks: ReturnType<typeof chunker.end>): Promise<void> => {
    for (const chunk of chunks) {
      chunkCount++;
      tokens += chunk.tokens;
      await writer.write(chunk);
    }
  };
  try {
    for await (const section of parsed.sections) {
      characters += section.text.length;
      await write(chunker.push(visible(section, report)));
      if (Date.now() - reported >= PROGRESS_EVERY_MS) {
        reported = Date.now();
        const pages = parsed.pages();
        onProgress(pages ? { chunks: chunkCount, pages } : { chunks: chunkCount });
      }
    }
    await write(chunker.end());
  } finally {
    await writer.close();
  }
  const pages = parsed.pages()?.total ?? null;
  return {
    chunkCount,
    tokens,
    characters,
    pages,
    outputPath: job.outputPath,
    ...encodingOf(),
    ...mailOf(parsed),
    ...(pictures && { pictures: pictures.count() }),
    ...(attachments && { attachments: attachments.list() }),
    report: report.end(),
  };
}
