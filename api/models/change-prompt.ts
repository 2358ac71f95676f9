import type { Adapters } from '../../activities/ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import type { PromptRecord } from '../../schemas/models/presets.js';
import { PROMPT_SLOTS, promptSlots } from '../../schemas/models/prompts.js';
import type { PromptType } from '../../schemas/models/prompts.js';
import type { NewPrompt, PromptPatch } from '../../schemas/models/prompts-api.js';
import { invalidRequest } from '../../schemas/request-issues.js';
import { followPromptRename } from './follow-rename.js';

export type PromptDeps = Pick<Adapters, 'prompts' | 'partitions' | 'presets'>;

/** @throws AppError NOT_FOUND, plain */
export async function requirePromptById(
  { prompts }: Pick<PromptDeps, 'prompts'>,
  id: string,
): Promise<PromptRecord> {
  const found = await prompts.get(id);
  if (found === null) throw new AppError('NOT_FOUND', `Prompt '${id}' not found`, { plain: true });
  return found;
}

/** Only the slots that are filled for its type, written plainly. @throws AppError VALIDATION_ERROR (422) */
function requireKnownSlots(type: PromptType, content: string): void {
  const known = PROMPT_SLOTS[type];
  const unknown = promptSlots(content).filter((slot) => !known.includes(slot));
  if (unknown.length === 0) return;
  const offered = known.length === 0 ? 'none' : known.map((slot) => `{${slot}}`).join(', ');
  throw invalidRequest([
    {
      type: 'unknown_slot',
      loc: ['body', 'content'],
      input: unknown.slice(0, 5).join(', '),
      msg: `{${unknown[0]}} is no slot of a prompt of type ${type} (${offered}); a brace that is meant as such is doubled`,
    },
  ]);
}

/** @throws AppError PROMPT_EXISTS, VALIDATION_ERROR */
export async function createPrompt(
  { prompts }: Pick<PromptDeps, 'prompts'>,
  { is_default: isDefault, ...prompt }: NewPrompt,
): Promise<PromptRecord> {
  requireKnownSlots(prompt.prompt_type, prompt.content);
  const created = await prompts.create(prompt);
  if (isDefault) await prompts.setDefault(created.prompt_type, created.id);
  return created;
}

/** A type has a default at all times: it passes to another prompt and is never taken off. */
async function requireNoLongerDefault({ prompts }: PromptDeps, prompt: PromptRecord): Promise<void> {
  if ((await prompts.defaults())[prompt.prompt_type] !== prompt.id) return;
  throw invalidRequest([
    {
      type: 'not_allowed',
      loc: ['body', 'is_default'],
      msg: 'make another prompt the default instead',
      input: false,
    },
  ]);
}

/** @throws AppError NOT_FOUND, PROMPT_EXISTS, VALIDATION_ERROR */
export async function updatePrompt(deps: PromptDeps, id: string, patch: PromptPatch): Promise<PromptRecord> {
  const present = await requirePromptById(deps, id);
  const { name, content, is_default: isDefault } = patch;
  if (content !== undefined) requireKnownSlots(present.prompt_type, content);
  if (isDefault === false) await requireNoLongerDefault(deps, present);
  const edit = { ...(name === undefined ? {} : { name }), ...(content === undefined ? {} : { content }) };
  // A bundled text that is edited does not follow later releases, so what is no edit must not be noted as one.
  const updated = Object.keys(edit).length === 0 ? present : await deps.prompts.update(id, edit);
  if (updated === null) return requirePromptById(deps, id);
  if (isDefault === true) await deps.prompts.setDefault(updated.prompt_type, id);
  // Until this is done the former name still finds it.
  if (updated.name !== present.name)
    await followPromptRename(deps, updated.prompt_type, { from: present.name, to: updated.name });
  return updated;
}

/** @throws AppError NOT_FOUND, CONFLICT for the default of its type */
export async function deletePrompt(deps: PromptDeps, id: string): Promise<void> {
  const { prompt_type: type } = await requirePromptById(deps, id);
  if ((await deps.prompts.defaults())[type] === id)
    throw new AppError('CONFLICT', `It is the default of type ${type}: make another one the default first.`);
  await deps.prompts.remove(id);
}
