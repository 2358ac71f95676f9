import type { Abilities } from './file-types.js';
import { missingLanguages } from './ocr/language-data.js';

/** What this server can read at this moment, by its settings and what is installed on it. */
export function abilitiesOf({ ocrLanguages }: { ocrLanguages: readonly string[] }): Abilities {
  const missing = missingLanguages(ocrLanguages);
  if (ocrLanguages.length === 0)
    return { noOcr: 'Pictures are read by OCR, which is off on this server (OCR_ENABLED).' };
  if (missing.length > 0) {
    const packages = missing.map((language) => `@tesseract.js-data/${language}`).join(', ');
    return { noOcr: `Pictures are read by OCR, whose data are not installed on this server: ${packages}.` };
  }
  return { noOcr: null };
}
