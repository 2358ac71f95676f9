import type { PromptType } from '../../schemas/models/prompts.js';

/** Where prompts come from. */
export interface PromptSource {
  /**
   * The text of the prompt with this name; without one, or when it is gone, the type's default; without that, the
   * bundled text.
   */
  text(type: PromptType, name?: string | null): Promise<string>;
}
