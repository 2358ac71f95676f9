import type { Chunk } from '../../../schemas/documents/documents.js';
import type { IndexationConfig } from '../../../schemas/models/presets.js';
import { fillPrompt } from '../../../schemas/models/prompts.js';
import type { ChatMessage, LanguageModel } from '../../ports/models.js';
import { storableText } from '../../text/clean-text.js';
import { firstCharacters } from '../../text/sentences.js';

/** Letters of the document's beginning, and of the chunk before, that a question carries. */
const OPENING_CHARACTERS = 6000;
const PREVIOUS_CHARACTERS = 1600;
/** Two short sentences. */
const MAX_TOKENS = 160;
const MAX_CHARACTERS = 1000;

export interface Surroundings {
  filename: string;
  /** The beginning of the document. */
  opening: string;
  /** The chunk before this one; null for the first. */
  previous: Chunk | null;
}

/** The beginning of a document from its first chunks. */
export function openingOf(chunks: readonly Chunk[]): string {
  return firstCharacters(chunks.map(({ text }) => text).join('\n\n'), OPENING_CHARACTERS);
}

/** Without half of a surrogate pair, which some model servers refuse. */
function lastCharacters(text: string): string {
  return storableText(text.slice(-PREVIOUS_CHARACTERS));
}

/**
 * Mode `simple` shows the model the beginning of the document; `structured` shows the headings that the chunk stands
 * under and the end of the chunk before, which costs less and says more where a document is well divided.
 */
function question(
  template: string,
  mode: IndexationConfig['contextualization_mode'],
  chunk: Chunk,
  { filename, opening, previous }: Surroundings,
): ChatMessage[] {
  return [
    {
      role: 'user',
      content: fillPrompt(template, {
        filename,
        chunk: chunk.text,
        document: mode === 'structured' ? chunk.headingPath.join(' > ') : opening,
        previous: mode === 'structured' ? lastCharacters(previous?.text ?? '') : '',
      }),
    },
  ];
}

/**
 * Where a chunk stands and what it is about, in a model's words; null when the model has nothing to say.
 * @throws what the language model throws, or the signal's reason
 */
export async function contextualizeChunk(
  model: Pick<LanguageModel, 'complete'>,
  asked: {
    template: string;
    mode: IndexationConfig['contextualization_mode'];
    chunk: Chunk;
    around: Surroundings;
    signal: AbortSignal;
  },
): Promise<string | null> {
  const messages = question(asked.template, asked.mode, asked.chunk, asked.around);
  const { content } = await model.complete(messages, {
    temperature: 0,
    maxTokens: MAX_TOKENS,
    signal: asked.signal,
  });
  const said = firstCharacters(storableText(content).replace(/\s+/g, ' ').trim(), MAX_CHARACTERS);
  return said === '' ? null : said;
}
