import type { ModelServers } from '../../activities/ports/model-administration.js';
import { AppError } from '../../schemas/app-error.js';
import type { ModelEndpoint } from '../../schemas/models/model-endpoints.js';
import { invalidRequest } from '../../schemas/request-issues.js';

type Owner = Pick<ModelEndpoint, 'model_type' | 'name' | 'endpoint'>;

const STARS = '*'.repeat(8);
const SHOWN = 3;
/** What the administration page of the 2.3 line sends for a secret that was not edited. */
const UNCHANGED = '<redacted>';

/** A key as it is shown: enough to tell two keys apart (wire contract, section 1.10). */
function maskKey(key: string): string {
  return key.slice(0, SHOWN) + STARS;
}

/** The mask of a stored key; stars alone when it cannot be opened any more. Null: there is no key. */
export function maskOf(servers: ModelServers, endpoint: ModelEndpoint): string | null {
  try {
    const key = servers.openKey(endpoint);
    return key === null ? null : maskKey(key);
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_ERROR') return STARS;
    throw error;
  }
}

function badKey(msg: string): AppError {
  return invalidRequest([{ type: 'api_key', loc: ['body', 'extra', 'api_key'], msg, input: null }]);
}

function seal(servers: ModelServers, owner: Owner, key: string): string {
  try {
    return servers.sealKey(owner, key);
  } catch (error) {
    // The request asks for what this installation cannot do.
    if (error instanceof AppError && error.code === 'CONFIG_ERROR') throw badKey(error.message);
    throw error;
  }
}

/** Whether a text stands for a secret that its sender was not shown. */
function isMask(text: string): boolean {
  return text === UNCHANGED || text.endsWith(STARS);
}

/**
 * The key that a draft gives for one request; null: none.
 * @throws AppError VALIDATION_ERROR (422) for a mask: it would be sent to the server as the key
 */
export function keyOfDraft(given: string | null | undefined): string | null {
  if (given == null || given === '') return null;
  if (isMask(given)) throw badKey('is a mask; name the endpoint whose stored key is meant');
  return given;
}

/**
 * What is stored of the key that a body gives. The stored one is kept when the body does not mention it or returns its
 * mask; `""` and null remove it; anything else is a new one. A kept key is sealed anew for the name and address that
 * the endpoint has from now on: an administrator says where it goes, and could read it anyway.
 * @throws AppError VALIDATION_ERROR (422) for a mask of another key, or without SECRETS_KEY
 */
export function sealedKeyAfter(
  servers: ModelServers,
  owner: Owner,
  change: {
    /** What there was before; null for a new endpoint. */
    before: ModelEndpoint | null;
    /** `extra` of the body; undefined leaves everything as it is. */
    extra: { api_key?: string | null | undefined } | undefined;
  },
): string | null {
  const { before, extra } = change;
  const given = extra?.api_key;
  if (given === null || given === '') return null;
  if (given !== undefined) {
    const returned = before !== null && (given === UNCHANGED || given === maskOf(servers, before));
    if (!returned && isMask(given)) throw badKey('is the mask of another key');
    if (!returned) return seal(servers, owner, given);
  }
  if (before?.sealed_api_key == null) return null;
  const moved = before.name !== owner.name || before.endpoint !== owner.endpoint;
  return moved ? seal(servers, owner, servers.openKey(before) ?? '') : before.sealed_api_key;
}

/**
 * Settings as a body gives them, with what it returned as unchanged put back. That page hides every member whose name
 * sounds like a secret, also inside others, and `api_key` is not the only one.
 * @throws AppError VALIDATION_ERROR (422) where nothing was stored that could be meant
 */
export function withUnchangedSecrets(
  given: Record<string, unknown>,
  before: Record<string, unknown>,
): Record<string, unknown> {
  return restore(given, before, ['body', 'extra']) as Record<string, unknown>;
}

function restore(given: unknown, before: unknown, loc: (string | number)[]): unknown {
  if (given === UNCHANGED) {
    if (before !== undefined) return before;
    throw invalidRequest([
      { type: 'secret', loc, msg: 'stands for a value that is not stored', input: null },
    ]);
  }
  if (Array.isArray(given)) {
    const stored: unknown[] = Array.isArray(before) ? before : [];
    return given.map((member, index) => restore(member, stored[index], [...loc, index]));
  }
  if (typeof given !== 'object' || given === null) return given;
  const stored = new Map(typeof before === 'object' && before !== null ? Object.entries(before) : []);
  return Object.fromEntries(
    Object.entries(given).map(([name, member]) => [name, restore(member, stored.get(name), [...loc, name])]),
  );
}
