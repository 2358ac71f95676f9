import { dirname } from 'node:path';
import type { ParseLimits } from '../parse-limits.js';
import type { ParseNotes } from '../parse-notes.js';
import { createLanguageChoice } from './language-choice.js';
import { recognise } from './recognise.js';
import type { Recognised } from './recognised.js';

/** A page read with less is in another language than was chosen by the pages before it. */
const SURE = 0.6;
/** Of the time of a document: what is left is for pages that have text, and for what comes behind. */
const TIME_SHARE = 0.7;

/** Reads the pictures of a document's pages, which are in one language more often than not. */
export interface PageRecogniser {
  /** @throws AppError as `recognise` */
  read(image: Buffer, pageNumber: number): Promise<Recognised>;
  /** Whether there is time for another page. */
  hasTime(): boolean;
}

/** @param path of the document: its directory takes what OCR needs at its start */
export function createPageRecogniser({
  path,
  limits,
  notes,
}: {
  path: string;
  limits: Pick<ParseLimits, 'ocrLanguages' | 'timeoutMs'>;
  notes: ParseNotes;
}): PageRecogniser {
  const until = Date.now() + limits.timeoutMs * TIME_SHARE;
  const choice = createLanguageChoice(limits.ocrLanguages);
  return {
    hasTime: () => Date.now() < until,
    async read(image, pageNumber) {
      const scratch = dirname(path);
      const languages = choice.current();
      const found = await recognise(image, { languages, scratch });
      if (languages.length < limits.ocrLanguages.length && found.confidence < SURE) {
        choice.widen();
        return recognise(image, { languages: choice.current(), scratch });
      }
      const chosen = choice.see(found.text);
      if (chosen !== null)
        notes.warn(
          `OCR reads the pages behind page ${pageNumber} as '${chosen}', by the words of those up to it.`,
        );
      return found;
    },
  };
}
