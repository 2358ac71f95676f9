import { sha256Hex } from '../sha256.js';

/** Stands for whatever the default of a type is, unless an endpoint has that very name. */
export const DEFAULT_ALIAS = 'default';

function shortDigest(text: string): string {
  return sha256Hex(text).slice(0, 8);
}

/** Names are what the admin API allows: letters, digits and `. _ -`, alphanumeric at both ends, at most 128. */
const MAX_CHARACTERS = 100;

/**
 * The endpoint name of a model found on Ollama: `ollama-` and the model without `:latest`. What had to be changed to
 * be a name is told apart by a digest, since two models must not share one.
 */
export function discoveredName(model: string): string {
  const short = model.replace(/:latest$/, '');
  const safe = short
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '')
    .slice(0, MAX_CHARACTERS);
  return safe === short ? `ollama-${safe}` : `ollama-${safe}${safe === '' ? '' : '-'}${shortDigest(short)}`;
}

const VECTOR_FIELD_PREFIX = 'vector_';

/**
 * The chunk field for the vectors of an embedder. The model is part of it: another model under the same endpoint name
 * gets a field of its own, since vectors of two models do not compare. Lower case, digits and `_`, so that no query
 * language can misread it.
 */
export function vectorFieldOf(name: string, modelName: string): string {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 40);
  return `${VECTOR_FIELD_PREFIX}${readable}_${shortDigest(JSON.stringify([name, modelName]))}`;
}

/** Whether it may be a field that `vectorFieldOf` has named. */
export function isLikeVectorField(name: string): boolean {
  return name.startsWith(VECTOR_FIELD_PREFIX);
}
