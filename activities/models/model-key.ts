import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';

/** Seals and opens stored secrets; `Encryption` of the stores. */
export interface ModelKeyBox {
  seal(secret: string, owner: string): string;
  open(box: string, owner: string): string;
}

type Owner = Pick<ModelEndpoint, 'model_type' | 'name' | 'endpoint'>;

/** A key opens for the address that it was given for: a changed URL must not take it along to another server. */
export function modelKeyOwner({ model_type, name, endpoint }: Owner): string {
  return JSON.stringify(['model-endpoint', model_type, name, endpoint]);
}

/** @throws AppError CONFIG_ERROR without SECRETS_KEY */
export function sealModelKey(keys: ModelKeyBox | null, endpoint: Owner, key: string): string {
  if (keys === null) throw new AppError('CONFIG_ERROR', 'SECRETS_KEY is needed to store a key.');
  return keys.seal(key, modelKeyOwner(endpoint));
}

/** Null when the endpoint has none. @throws AppError CONFIG_ERROR when it cannot be opened */
export function openModelKey(
  keys: ModelKeyBox | null,
  endpoint: Owner & Pick<ModelEndpoint, 'sealed_api_key'>,
): string | null {
  if (endpoint.sealed_api_key === null) return null;
  if (keys === null)
    throw new AppError(
      'CONFIG_ERROR',
      `SECRETS_KEY is needed to read the key of model endpoint '${endpoint.name}'.`,
    );
  return keys.open(endpoint.sealed_api_key, modelKeyOwner(endpoint));
}
