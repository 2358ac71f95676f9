import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The packed model of a language for OCR (Tesseract's code, such as `fra`), from the package that holds it; null when
 * that is not installed. Nothing is ever fetched.
 */
export function languageData(language: string): string | null {
  try {
    const name = `@tesseract.js-data/${language}`;
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const path = join(folder, '4.0.0_best_int', `${language}.traineddata.gz`);
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

/** Those of the languages whose data are not installed. */
export function missingLanguages(languages: readonly string[]): string[] {
  return languages.filter((language) => languageData(language) === null);
}
