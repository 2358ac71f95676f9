import type { RetrievalConfig } from '../../../schemas/models/presets.js';
import { fillPrompt } from '../../../schemas/models/prompts.js';
import type { LanguageModel } from '../../ports/models.js';
import { askBriefly } from './ask-model.js';
import { firstCharacters } from '../../text/sentences.js';

const VARIANTS = 3;
const MAX_TOKENS = 512;
/** The question alone does as well when this takes longer. */
const WITHIN_MS = 10_000;
const MAX_VARIANT_LENGTH = 500;
const MAX_PASSAGE_LENGTH = 2000;

function variantsIn(answer: string): string[] {
  const lines = answer.split('\n').map((line) => line.replace(/^\s*(?:[-*•]|\d{1,2}[.)])\s*/, '').trim());
  return lines.filter((line) => line !== '' && line.length <= MAX_VARIANT_LENGTH).slice(0, VARIANTS);
}

/**
 * More to search for beside a question: other ways to ask it (`multiQuery`), or a passage that might answer it
 * (`hyde`; Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", 2022). Nothing for `single`, and
 * nothing when the model cannot.
 */
export async function writeQueries(
  question: string,
  options: {
    type: RetrievalConfig['type'];
    model: LanguageModel;
    /** With the slots of `multi_query` or `hyde`. */
    prompt: string;
    date: Date;
    signal: AbortSignal;
  },
): Promise<{ kind: 'variant' | 'passage'; text: string }[]> {
  const { type, model, prompt, date, signal } = options;
  if (type === 'single') return [];
  const values = {
    query: question,
    k_queries: String(VARIANTS),
    current_date: date.toISOString().slice(0, 10),
  };
  const content = fillPrompt(prompt, values);
  const told = content.includes(question) ? content : `${content}\n\n${question}`;
  const limits = { maxTokens: MAX_TOKENS, withinMs: WITHIN_MS, signal };
  const answer = (await askBriefly(model, [{ role: 'user', content: told }], limits))?.trim() ?? '';
  if (type === 'multiQuery') return variantsIn(answer).map((text) => ({ kind: 'variant', text }));
  return answer === '' ? [] : [{ kind: 'passage', text: firstCharacters(answer, MAX_PASSAGE_LENGTH) }];
}
