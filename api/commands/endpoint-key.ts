import type { ModelServers } from '../../activities/admin-ports.js';
import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint } from '../../schemas/model-endpoints.js';
import { invalidRequest } from '../request-issues.js';

type Owner = Pick<ModelEndpoint, 'model_type' | 'name' | 'endpoint'>;

const STARS = '*'.repeat(8);
const SHOWN = 3;

/** A key as it is shown: enough to tell two keys apart (wire contract, section 1.10). */
const maskKey = (key: string): string => key.slice(0, SHOWN) + STARS;

/** The mask of a stored key; stars alone when it cannot be opened any more. Null: there is no key. */
export const maskOf = (servers: ModelServers, endpoint: ModelEndpoint): string | null => {
  try {
    const key = servers.openKey(endpoint);
    return key === null ? null : maskKey(key);
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_ERROR') return STARS;
    throw error;
  }
};

const badKey = (msg: string): AppError =>
  invalidRequest([{ type: 'api_key', loc: ['body', 'extra', 'api_key'], msg, input: null }]);

const seal = (servers: ModelServers, owner: Owner, key: string): string => {
  try {
    return servers.sealKey(owner, key);
  } catch (error) {
    // The request asks for what this installation cannot do.
    if (error instanceof AppError && error.code === 'CONFIG_ERROR') throw badKey(error.message);
    throw error;
  }
};

/**
 * What is stored of the key that a body gives: nothing, the stored one (a masked one came back), or a new one. A
 * kept key is sealed anew for the name and address that the endpoint has from now on: an administrator says where it
 * goes, and could read it anyway.
 * @throws AppError VALIDATION_ERROR (422) for a mask of another key, or without SECRETS_KEY
 */
export const sealedKeyAfter = (
  servers: ModelServers,
  owner: Owner,
  change: {
    /** What there was before; null for a new endpoint. */
    before: ModelEndpoint | null;
    /** `extra` of the body; undefined leaves everything as it is. */
    extra: { api_key?: string | null | undefined } | undefined;
  },
): string | null => {
  const { before, extra } = change;
  const given = extra?.api_key ?? '';
  const kept = extra === undefined || (given !== '' && before !== null && given === maskOf(servers, before));
  if (!kept) {
    if (given === '') return null;
    if (given.endsWith(STARS)) throw badKey('is the mask of another key');
    return seal(servers, owner, given);
  }
  if (before?.sealed_api_key == null) return null;
  const moved = before.name !== owner.name || before.endpoint !== owner.endpoint;
  return moved ? seal(servers, owner, servers.openKey(before) ?? '') : before.sealed_api_key;
};
