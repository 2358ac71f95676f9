import type { Abilities } from './file-types.js';
import { findLibreOffice, NO_LIBREOFFICE } from './formats/libreoffice.js';
import { missingLanguages } from './ocr/language-data.js';
import { tesseractFor } from './ocr/tesseract-program.js';

const NO_TRANSCRIBER =
  'Audio and video are transcribed by a speech model, and none is registered: an administrator can add a model endpoint ' +
  'of type stt (or set TRANSCRIBER_BASE_URL). Otherwise upload a transcript.';

/**
 * What this server can read at this moment, by its settings and what is installed on it.
 * @param options.transcriber whether a model that transcribes is registered
 */
export function abilitiesOf({
  ocrLanguages,
  transcriber,
}: {
  ocrLanguages: readonly string[];
  transcriber: boolean;
}): Abilities {
  return {
    noOcr: ocrRefusal(ocrLanguages),
    noTranscription: transcriber ? null : NO_TRANSCRIBER,
    noLibreOffice: findLibreOffice() === null ? NO_LIBREOFFICE : null,
  };
}

function ocrRefusal(languages: readonly string[]): string | null {
  if (languages.length === 0) return 'Pictures are read by OCR, which is off on this server (OCR_ENABLED).';
  const missing = missingLanguages(languages);
  if (missing.length === 0 || tesseractFor(languages) !== null) return null;
  const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(', ');
  return `Pictures are read by OCR, whose data are not installed on this server: ${packages}, or the program tesseract on PATH with these languages.`;
}
