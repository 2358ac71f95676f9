import { fillPrompt } from '../../../schemas/models/prompts.js';
import type { LanguageModel } from '../../ports/models.js';
import { storableText } from '../../text/clean-text.js';

const MAX_TOKENS = 300;
const MAX_TAG_LENGTH = 80;

function arrayIn(reply: string): unknown {
  const start = reply.indexOf('[');
  try {
    return JSON.parse(start === -1 ? '' : reply.slice(start, reply.indexOf(']', start) + 1));
  } catch {
    return null;
  }
}

/** The tags in a model's reply: a JSON array, or one a line from a model that does not write JSON. */
export function readTags(reply: string, most: number): string[] {
  const array = arrayIn(reply);
  const given = Array.isArray(array)
    ? array.filter((tag): tag is string => typeof tag === 'string')
    : reply.includes('[')
      ? []
      : reply.split('\n').map((line) => line.replace(/^[\s\-*•\d.)]+/, ''));
  const tags = given
    .map((tag) => storableText(tag).replace(/\s+/g, ' ').trim())
    .filter((tag) => tag !== '' && tag.length <= MAX_TAG_LENGTH && !tag.endsWith(':'));
  const seen = new Set<string>();
  return tags
    .filter((tag) => {
      const key = tag.toLowerCase();
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, most);
}

/**
 * What a document is about, in a model's words, the most important first.
 * @throws what the language model throws, or the signal's reason
 */
export async function topicTags(
  model: Pick<LanguageModel, 'complete'>,
  asked: { template: string; filename: string; opening: string; most: number; signal: AbortSignal },
): Promise<string[]> {
  const content = fillPrompt(asked.template, {
    filename: asked.filename,
    text: asked.opening,
    max_tags: String(asked.most),
  });
  const reply = await model.complete([{ role: 'user', content }], {
    temperature: 0,
    maxTokens: MAX_TOKENS,
    signal: asked.signal,
  });
  return readTags(reply.content, asked.most);
}
