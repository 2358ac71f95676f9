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

/**
 * A section with its letters composed (NFC): the index folds `\u00e9` to `e`, but not `e` with a combining accent,
 * which files from macOS and some PDF hold instead. What no store takes is a space: escapes in JSON, XML and mails
 * stand for any character, and parsers read them after the text was cleaned.
 */
function composed(section: Section): Section {
  const { charStart: _, ...rest } = section;
  const kept = (text: string): string => storableText(text.normalize('NFC'));
  const text = kept(section.text);
  const headingPath = section.headingPath.map(kept);
  return { ...rest, headingPath, text, ...keptStart(section, text) };
}

/** What a person would see of a section: a model would also read what is hidden in it. */
function visible(section: Section): Section {
  const { charStart: _, ...rest } = section;
  const text = stripInvisible(section.text);
  const headingPath = section.headingPath.map(stripInvisible);
  return { ...rest, headingPath, text, ...keptStart(section, text) };
}

/** Where something was taken out or composed, places in the source are no longer known. */
function keptStart({ charStart, text }: Section, kept: string): Pick<Section, 'charStart'> {
  return charStart === undefined || kept.length !== text.length ? {} : { charStart };
}

async function* visibleOf(
  sections: AsyncIterable<Section> | Iterable<Section>,
  report: ReportReader,
): AsyncGenerator<Section> {
  for await (const given of sections) {
    const section = composed(given);
    const shown = visible(section);
    report.see(section, shown);
    yield shown;
  }
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
    for await (const given of parsed.sections) {
      characters += given.text.length;
      const section = composed(given);
      const shown = visible(section);
      report.see(section, shown);
      await write(chunker.push(shown));
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
