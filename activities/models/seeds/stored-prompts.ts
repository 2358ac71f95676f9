import type { PromptRecord } from '../../../schemas/models/presets.js';
import type { PromptStore } from '../../ports/model-administration.js';
import { BUNDLED_PROMPTS } from './bundled-prompts.js';
import type { PromptSource } from '../../ports/prompts.js';

/**
 * Prompts as administrators wrote them: the named one, else the default of its type, else the bundled text. They are
 * asked for at each use, so that an edit takes effect at once.
 */
export function createStoredPromptSource(
  prompts: Pick<PromptStore, 'find' | 'get' | 'defaults'>,
): PromptSource {
  return {
    async text(type, name) {
      const named: PromptRecord | null = name == null ? null : await prompts.find(type, name);
      if (named !== null) return named.content;
      const id = (await prompts.defaults())[type];
      const chosen = id === undefined ? null : await prompts.get(id);
      return chosen?.content ?? BUNDLED_PROMPTS[type];
    },
  };
}
