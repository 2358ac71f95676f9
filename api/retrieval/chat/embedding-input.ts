import type { EmbeddingRequest } from '../../../schemas/retrieval/chat-api.js';
import { AppError } from '../../../schemas/app-error.js';
import { badRequest } from '../../../schemas/request-issues.js';

/** Characters of all texts of a request. */
const MAX_CHARACTERS = 1_000_000;
/** Characters of one: more than any embedder's window holds. */
const MAX_TEXT_CHARACTERS = 131_072;

function tooLarge(what: string, most: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `${what} may hold ${most} characters`, { plain: true });
}

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
  const { decode } = await import('gpt-tokenizer/encoding/cl100k_base');
  return lists.map((tokens) => {
    try {
      return decode(tokens);
    } catch {
      throw badRequest("'input' holds numbers that are no cl100k tokens");
    }
  });
}

/**
 * The texts of a request for embeddings.
 * @throws AppError BAD_REQUEST for an empty one, PAYLOAD_TOO_LARGE, both plain
 */
export async function embeddingInput(input: EmbeddingRequest['input']): Promise<string[]> {
  const items = typeof input === 'string' || isTokens(input) ? [input] : input;
  // Each token stands for a byte at least; what is too long is not read.
  if (sumOf(items) > MAX_CHARACTERS) throw tooLarge("'input'", MAX_CHARACTERS);
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
