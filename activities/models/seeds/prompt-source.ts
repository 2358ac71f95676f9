import { BUNDLED_PROMPTS } from './bundled-prompts.js';
import type { PromptSource } from '../../ports/prompts.js';

/** The bundled texts alone. */
export const bundledPromptSource: PromptSource = {
  text: async (type) => BUNDLED_PROMPTS[type],
};
