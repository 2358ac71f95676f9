import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint, ModelType } from '../../schemas/models/model-endpoints.js';
import { listReferences, referencesToEndpoint } from './find-references.js';
import { requireEndpoint } from './update-model-endpoint.js';
import type { ModelEndpointDeps } from './update-model-endpoint.js';

async function requireUnused(
  deps: ModelEndpointDeps,
  { model_type: type, name }: ModelEndpoint,
): Promise<void> {
  const references = await referencesToEndpoint(deps, type, name);
  if (references.length > 0)
    throw new AppError(
      'MODEL_ENDPOINT_IN_USE',
      `The model endpoint is in use by ${listReferences(references)}.`,
    );
  if (type !== 'embedder') return;
  const held = await deps.files.countByEmbedder(name);
  if (held.size > 0)
    throw new AppError(
      'MODEL_ENDPOINT_IN_USE',
      `Files of ${held.size} partition(s) have vectors of this embedder.`,
    );
}

/**
 * Deletes a model endpoint that nothing names. A default may go only when it is the last of its type.
 * @throws AppError NOT_FOUND; MODEL_ENDPOINT_IN_USE
 */
export async function deleteModelEndpoint(
  deps: ModelEndpointDeps,
  { type, name }: { type: ModelType; name: string },
): Promise<void> {
  const present = await requireEndpoint(deps, type, name);
  if (present.provider === 'builtin')
    throw new AppError('MODEL_ENDPOINT_IN_USE', 'A built-in model cannot be deleted.');
  await requireUnused(deps, present);
  const isDefault = (await deps.endpoints.defaults())[type] === name;
  if (isDefault && (await deps.endpoints.list(type)).length > 1)
    throw new AppError(
      'MODEL_ENDPOINT_IN_USE',
      `It is the default of type ${type}: make another one the default first.`,
    );
  if (isDefault) await deps.endpoints.moveDefault(type, name, null);
  await deps.endpoints.remove(type, name);
  // It may have been named in a preset or a default just before: then it is restored.
  await requireUnused(deps, present).catch(async (error: unknown) => {
    await deps.endpoints.seed(present);
    throw error;
  });
}
