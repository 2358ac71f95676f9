import type { Adapters } from '../ports/adapters.js';
import { AppError } from '../../schemas/app-error.js';
import { DEFAULT_ALIAS } from '../../schemas/models/endpoint-names.js';
import type { ModelType } from '../../schemas/models/model-endpoints.js';
import { notRegistered } from '../../schemas/models/not-registered.js';
import type { PresetType } from '../../schemas/models/presets.js';
import { MODEL_REFERENCES, PROMPT_REFERENCES } from '../../schemas/models/preset-references.js';
import type { PromptType } from '../../schemas/models/prompts.js';

type Stores = Pick<Adapters, 'endpoints' | 'prompts'>;

function namesIn(
  references: Readonly<Record<string, string | undefined>>,
  config: object,
): [type: string, name: string][] {
  return Object.entries(references).flatMap(([field, type]) => {
    const name = (config as Record<string, unknown>)[field];
    return typeof name === 'string' && type !== undefined ? [[type, name] as [string, string]] : [];
  });
}

/** @throws AppError PROMPT_NOT_FOUND */
export async function requirePrompt(
  { prompts }: Pick<Stores, 'prompts'>,
  type: PromptType,
  name: string,
): Promise<void> {
  if ((await prompts.find(type, name)) === null)
    throw new AppError('PROMPT_NOT_FOUND', `The prompt '${name}' (${type}) does not exist.`);
}

/**
 * Every model and prompt that a preset's config names must be there; `default` always is.
 * @throws AppError MODEL_ENDPOINT_NOT_FOUND, PROMPT_NOT_FOUND (422)
 */
export async function requireNamesInConfig(stores: Stores, type: PresetType, config: object): Promise<void> {
  for (const [modelType, name] of namesIn(MODEL_REFERENCES[type], config))
    if (name !== DEFAULT_ALIAS && (await stores.endpoints.get(modelType as ModelType, name)) === null)
      throw notRegistered(modelType, name);
  for (const [promptType, name] of namesIn(PROMPT_REFERENCES[type], config))
    if (name !== DEFAULT_ALIAS) await requirePrompt(stores, promptType as PromptType, name);
}
