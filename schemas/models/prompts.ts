/** Kinds of prompts that operators may replace (wire contract, section 1.10). */
export const PROMPT_TYPES = [
  'sys_prompt',
  'spoken_style_answer',
  'query_contextualizer',
  'chunk_contextualizer',
  'image_captioning',
  'hyde',
  'multi_query',
  'topic_tagger',
  'asr_transcription',
] as const;

export type PromptType = (typeof PROMPT_TYPES)[number];

/** A slot of a prompt stands as `{name}`; a brace that is meant as such is doubled, `{{`. */
const SLOT = /\{\{|\}\}|\{([A-Za-z_][^{}\n]*)\}/g;

/**
 * What stands in the slots of a prompt, as it is written: `name`, but also `name.field` or `name!r`, which no prompt
 * may have.
 */
export function promptSlots(text: string): string[] {
  return [...new Set([...text.matchAll(SLOT)].flatMap(([, slot]) => slot ?? []))];
}

/**
 * Puts values into the slots of a prompt, in one pass: what a value holds is never taken for a slot. Slots without a
 * value stay as they are, and so do single braces.
 */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(SLOT, (match, slot: string | undefined) => {
    if (slot === undefined) return match[0]!;
    return Object.hasOwn(values, slot) ? values[slot]! : match;
  });
}

/** The slots that each kind of prompt may use. None of them must be there: what has no slot is added. */
export const PROMPT_SLOTS: Readonly<Record<PromptType, readonly string[]>> = {
  sys_prompt: ['context', 'current_date', 'assistant_name', 'default_language'],
  spoken_style_answer: ['context', 'current_date', 'assistant_name', 'default_language'],
  query_contextualizer: ['query', 'chat_history', 'current_date'],
  chunk_contextualizer: ['filename', 'document', 'previous', 'chunk'],
  image_captioning: [],
  hyde: ['query', 'current_date'],
  multi_query: ['query', 'k_queries', 'current_date'],
  topic_tagger: ['filename', 'text', 'max_tags'],
  asr_transcription: [],
};
