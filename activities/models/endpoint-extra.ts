import type { ModelEndpoint } from '../../schemas/documents.js';

/** The window that the operator wants a language model run with (`extra.max_llm_context_size`); null: unsaid. */
export const wantedContext = ({ extra }: Pick<ModelEndpoint, 'extra'>): number | null => {
  const { max_llm_context_size: size } = extra;
  return typeof size === 'number' && Number.isInteger(size) && size > 0 ? size : null;
};
