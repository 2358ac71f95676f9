import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { ParseReport } from '../../../schemas/documents/parse-report.js';
import { createParseNotes } from './parse-notes.js';
import type { ParsedSections } from './parse-source.js';
import type { PictureCollector } from './pictures/picture-collector.js';
import type { Section } from './section.js';

/** Watches the sections of a document go by and says at the end what came of it. */
export interface ReportReader {
  /** @param shown the section as it is kept, without what is invisible */
  see(section: Section, shown: Section): void;
  /** All but what the process outside knows: time and memory. */
  end(): Omit<ParseReport, 'duration_ms' | 'peak_memory_mb'>;
}

/** Of the pages: beyond that a document without text on them has lost most of what it says. */
const MAX_EMPTY_SHARE = 0.5;
/** Of the characters: beyond that the encoding was not found, or the file is damaged. */
const MANY_UNKNOWN = 0.05;
/** A page of nothing but navigation is short; a long one of which so little is kept lost its content. */
const DROPPED_PER_KEPT = 4;
const MUCH_DROPPED = 2000;

export function createReportReader(
  parsed: ParsedSections,
  kind: string,
  pictures?: PictureCollector,
): ReportReader {
  const pagesWithText = new Set<number>();
  let tables = 0;
  let kept = 0;
  let invisible = 0;
  let unknown = 0;
  const { notes = createParseNotes(), parser } = parsed;

  const reasons = (total: number | null, empty: number | null): string[] => [
    ...notes.reasons,
    ...(total !== null && empty !== null && empty > total * MAX_EMPTY_SHARE && empty < total
      ? [`${empty} of ${total} pages hold no text that can be read.`]
      : []),
    ...(unknown > kept * MANY_UNKNOWN
      ? [`${Math.round((unknown / kept) * 100)} % of the characters could not be decoded.`]
      : []),
    ...(notes.dropped > Math.max(MUCH_DROPPED, kept * DROPPED_PER_KEPT)
      ? ['Most of the text stands in menus, side columns or running titles, which are left out.']
      : []),
  ];

  const pictureReport = (): ParseReport['pictures'] => {
    const passed = notes.picturesPassed;
    if (pictures === undefined)
      return passed === 0
        ? null
        : {
            kept: 0,
            left_out: passed,
            reasons: ['The partition’s preset asks for no descriptions of pictures.'],
          };
    const { kept: described, leftOut } = pictures.count();
    return { kept: described, left_out: leftOut, reasons: pictures.reasons() };
  };

  return {
    see(section, shown) {
      const { text } = shown;
      invisible += section.text.length - text.length;
      kept += text.length;
      if (section.kind === 'table' && section.continues !== true) tables += 1;
      if (section.page !== null && text.trim() !== '') pagesWithText.add(section.page);
      if (text.includes('\ufffd')) unknown += text.match(/\ufffd/g)!.length;
    },
    end() {
      const total = parsed.pages()?.total ?? null;
      const empty = total === null ? null : total - pagesWithText.size;
      const degradedBy = reasons(total, empty);
      return {
        parser: parser?.name ?? kind,
        parser_version: parser?.package === undefined ? null : packageVersion(parser.package),
        pages: total,
        pages_without_text: empty,
        pages_by_ocr: notes.ocrPages,
        ocr_confidence: notes.ocrConfidence,
        pictures: pictureReport(),
        encoding: parsed.encoding ?? null,
        tables,
        characters: kept,
        characters_dropped: invisible + notes.dropped,
        degraded: degradedBy.length > 0,
        reasons: degradedBy,
        warnings: [...notes.warnings],
      };
    },
  };
}

const versions = new Map<string, string | null>();

/** The version of an installed package; null when its description is not found. */
function packageVersion(name: string): string | null {
  if (!versions.has(name)) versions.set(name, findVersion(name));
  return versions.get(name)!;
}

function findVersion(name: string): string | null {
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    // Not every package lets its description be asked for by name.
    for (let folder = dirname(entry); folder !== dirname(folder); folder = dirname(folder)) {
      const described = readDescription(join(folder, 'package.json'));
      if (described?.name === name) return described.version ?? null;
    }
  } catch {
    // A package that cannot be resolved has no version that we know.
  }
  return null;
}

function readDescription(path: string): { name?: string; version?: string } | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { name?: string; version?: string };
  } catch {
    return null;
  }
}
