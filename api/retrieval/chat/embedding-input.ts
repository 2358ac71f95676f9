import { createLoopBudget } from '../../../activities/text/loop-budget.js';
import type { EmbeddingRequest } from '../../../schemas/retrieval/chat-api.js';
import { AppError } from '../../../schemas/app-error.js';
import { badRequest } from '../../../schemas/request-issues.js';

/** Characters of all texts of a request: clients send a thousand chunks at once, of up to 4,000 characters. */
const MAX_CHARACTERS = 4_000_000;
/** Tokens, likewise: more than three times as many as the format allows. */
const MAX_TOKENS = 1_000_000;
/** Characters of one: more than any embedder's window holds. */
const MAX_TEXT_CHARACTERS = 131_072;

function tooLarge(what: string, most: number, unit = 'characters'): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `${what} may hold ${most} ${unit}`, { plain: true });
}

/** Tokens that are made texts in a turn of the event loop, by all requests. */
const room = createLoopBudget(8_000);

function sumOf(items: readonly { length: number }[]): number {
  return items.reduce((sum, { length }) => sum + length, 0);
}

function isTokens(input: unknown): input is number[] {
  return Array.isArray(input) && typeof input[0] === 'number';
}

/**
 * Clients that count tokens before they send them send the tokens: cl100k, the encoding of OpenAI's own embedders. Its
 * table is loaded when the first of them comes.
 */
async function textsOfTokens(lists: readonly number[][]): Promise<string[]> {
  if (sumOf(lists) > MAX_TOKENS) throw tooLarge("'input'", MAX_TOKENS, 'tokens');
  const { decode } = await import('gpt-tokenizer/encoding/cl100k_base');
  const texts: string[] = [];
  let left = MAX_CHARACTERS;
  for (const tokens of lists) {
    await room(tokens.length);
    try {
      texts.push(decode(tokens));
    } catch {
      throw badRequest("'input' holds numbers that are no cl100k tokens");
    }
    left -= texts.at(-1)!.length;
    // A token may be of many characters: what is too long is not read to its end.
    if (left < 0) throw tooLarge("'input'", MAX_CHARACTERS);
  }
  return texts;
}

/**
 * The texts of a request for embeddings.
 * @throws AppError BAD_REQUEST for an empty one, PAYLOAD_TOO_LARGE, both plain
 */
export async function embeddingInput(input: EmbeddingRequest['input']): Promise<string[]> {
  const items = typeof input === 'string' || isTokens(input) ? [input] : input;
  const texts = isTokens(items[0])
    ? await textsOfTokens(items as number[][])
    : items.map((item) => (typeof item === 'string' ? item : ''));
  if (texts.length === 0 || texts.some((text) => text.trim() === ''))
    throw badRequest("'input' must hold at least one text, and none that is empty");
  if (sumOf(texts) > MAX_CHARACTERS) throw tooLarge("'input'", MAX_CHARACTERS);
  if (texts.some(({ length }) => length > MAX_TEXT_CHARACTERS))
    throw tooLarge("One text of 'input'", MAX_TEXT_CHARACTERS);
  return texts;
}
