import { open } from 'node:fs/promises';
import { AppError } from '../../../schemas/app-error.js';
import type { Section } from './section.js';

/**
 * Writes the text of a document, sections a blank line apart, and nothing that only chunks need. Answers its length
 * in characters.
 * @throws AppError PAYLOAD_TOO_LARGE as soon as it is longer than `maxCharacters`
 */
export async function writeText(
  sections: AsyncIterable<Section> | Iterable<Section>,
  path: string,
  maxCharacters: number,
): Promise<number> {
  const file = await open(path, 'w');
  let characters = 0;
  try {
    for await (const { text, continues } of sections) {
      const fragment =
        (characters === 0 || continues === true ? '' : '\n\n') + text.replace(/(?<!\n)\n+$/, '');
      characters += fragment.length;
      if (characters > maxCharacters)
        throw new AppError(
          'PAYLOAD_TOO_LARGE',
          `The file holds more than ${maxCharacters} characters of text.`,
        );
      await file.writeFile(fragment); // goes on where the last write ended
    }
  } finally {
    await file.close();
  }
  return characters;
}
