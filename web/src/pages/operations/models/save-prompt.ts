import { api } from '../../../api/client';
import { changedFields } from '../../../shared/changed-fields';
import type { Prompt } from './queries';

/** A prompt as its editor has it. */
export interface PromptValues {
  name: string;
  type: Prompt['prompt_type'];
  content: string;
  isDefault: boolean;
}

function fieldsOf({ name, content, isDefault }: PromptValues) {
  return { name, content, is_default: isDefault };
}

/**
 * Creates a prompt, or changes what its editor has changed alone: the rest may have been changed by others since the
 * list was read. The server warns of nothing here.
 *
 * @param id null: a new one
 */
export async function savePrompt(
  id: string | null,
  before: PromptValues,
  after: PromptValues,
): Promise<readonly string[]> {
  if (id === null) {
    await api.POST('/prompts/', { body: { prompt_type: after.type, ...fieldsOf(after) } });
    return [];
  }
  const body = changedFields(fieldsOf(before), fieldsOf(after));
  if (Object.keys(body).length > 0) await api.PATCH('/prompts/{id}', { params: { path: { id } }, body });
  return [];
}
