import { z } from 'zod';
import type { ModelDescription } from './model-server.js';
import { readAs } from './read-as.js';

const ShowAnswer = z.object({
  capabilities: z.array(z.string()).optional(),
  model_info: z.record(z.string(), z.unknown()).optional(),
});

const BERT = /bert/;

/**
 * What `/api/show` tells of a model. Ollama's WordPiece tokeniser breaks accented words and some signs (ollama issue
 * 15609), so its users must normalise; `tokenizer.ggml.model` names it `bert`. Models of the BERT family with another
 * tokeniser (bge-m3: `t5`) need nothing. Where no tokeniser is named the architecture decides.
 */
export const describeOllamaModel = (answer: unknown): ModelDescription => {
  const { capabilities = [], model_info: info = {} } = readAs(ShowAnswer, answer, 'description of the model');
  const architecture = String(info['general.architecture'] ?? '');
  const context = info[`${architecture}.context_length`];
  const tokenizer = info['tokenizer.ggml.model'];
  const wordpiece = typeof tokenizer === 'string' ? tokenizer === 'bert' : BERT.test(architecture);
  const embeds = capabilities.includes('embedding') || (capabilities.length === 0 && BERT.test(architecture));
  const talks =
    capabilities.includes('completion') || (capabilities.length === 0 && !BERT.test(architecture));
  return {
    kind: embeds ? 'embedder' : talks ? 'llm' : null,
    sees: capabilities.length === 0 ? null : capabilities.includes('vision'),
    context_tokens: typeof context === 'number' && Number.isInteger(context) && context > 0 ? context : null,
    text_form: wordpiece ? 'wordpiece' : 'plain',
  };
};
