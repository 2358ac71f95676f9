import { BUNDLED_PROMPTS } from './bundled-prompts.js';
import type { BundledPromptType } from './bundled-prompts.js';

/** Where prompts come from. */
export interface PromptSource {
  /**
   * The text of the prompt with this name; without one, or when it is gone, the type's default; without that, the
   * bundled text.
   */
  text(type: BundledPromptType, name?: string | null): Promise<string>;
}

/** The bundled texts alone. */
export const bundledPromptSource: PromptSource = {
  text: async (type) => BUNDLED_PROMPTS[type],
};
