import { AppError } from '../../../schemas/app-error.js';
import { hardCut } from '../parsing/hard-cut.js';
import { stripInvisible } from '../../text/invisible-characters.js';
import { readPictureFormat } from '../parsing/pictures/picture-format.js';
import { cleanText } from '../../text/clean-text.js';
import { firstCharacters } from '../../text/sentences.js';
import { countTokens } from '../../text/token-count.js';
import type { LanguageModel } from '../../ports/models.js';

/** A few sentences, and the labels of a diagram. */
const MAX_TOKENS = 400;
const MAX_CHARACTERS = 2000;

const OPEN = '<image_description>';
const CLOSE = '</image_description>';
const TAG = /<\s*(?:\/\s*)?image_description\s*>/gi;

/** What a model says, as text of a document: only what can be seen, and nothing that would end the description. */
function tidy(said: string): string {
  let text = firstCharacters(stripInvisible(cleanText(said)), MAX_CHARACTERS);
  // What is left of one tag may be another.
  for (let before = ''; before !== text;) {
    before = text;
    text = text.replace(TAG, '');
  }
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/(?<!\s)\s*\n\s*/g, '\n')
    .trim();
}

/**
 * What a picture shows, in a vision model's words.
 * @throws what the language model throws, the signal's reason, or AppError LLM_PARSING_ERROR when it says nothing
 */
export async function describePicture(
  model: Pick<LanguageModel, 'complete'>,
  asked: { prompt: string; picture: Buffer; signal: AbortSignal },
): Promise<string> {
  const format = readPictureFormat(asked.picture);
  if (format === null)
    throw new AppError('UNSUPPORTED_CONTENT', 'The picture is in no format that is known.');
  const pictures = [{ mimetype: format.mimetype, bytes: asked.picture }];
  const { content } = await model.complete([{ role: 'user', content: asked.prompt, pictures }], {
    temperature: 0,
    maxTokens: MAX_TOKENS,
    signal: asked.signal,
  });
  const said = tidy(content);
  if (said === '') throw new AppError('LLM_PARSING_ERROR', 'The model said nothing of the picture.');
  return said;
}

/** A description as it stands in a chunk, which may have so many tokens. */
export function asImageText(description: string, mostTokens: number): string {
  const room = Math.max(1, mostTokens - countTokens(`${OPEN}\n\n${CLOSE}`) - 2);
  const [fitting = ''] = hardCut(description, room);
  return `${OPEN}\n${fitting.trim()}\n${CLOSE}`;
}
