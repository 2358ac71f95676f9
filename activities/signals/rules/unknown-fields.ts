import { isObject } from '../../../schemas/is-object.js';
import type { RulePath } from './compiled-rule.js';
import { readField } from './read-field.js';

/** What local API servers of any version put into a signal, and what we know beside it. */
const KNOWN = new Set([
  'scenario',
  'scenario_hash',
  'scenario_version',
  'scenario_trust',
  'message',
  'kind',
  'uuid',
  'machine_id',
  'start_at',
  'stop_at',
  'created_at',
  'simulated',
  'remediation',
  'events_count',
  'capacity',
  'leakspeed',
  'events',
  'labels',
  'meta',
  'context',
  'context[]',
  'context[].key',
  'context[].value',
  'source',
  'source.scope',
  'source.value',
  'source.ip',
  'source.range',
  'source.cn',
  'source.as_number',
  'source.as_name',
  'source.latitude',
  'source.longitude',
  'decisions',
  'decisions[]',
  'decisions[].id',
  'decisions[].uuid',
  'decisions[].origin',
  'decisions[].scenario',
  'decisions[].scope',
  'decisions[].type',
  'decisions[].value',
  'decisions[].duration',
  'decisions[].until',
  'decisions[].simulated',
  'geo.countryCode',
  'geo.countryName',
  'geo.city',
  'geo.region',
  'geo.latitude',
  'geo.longitude',
  'geo.timezone',
  'proxy.watcher',
  'proxy.version',
]);

export interface UnknownField {
  path: RulePath;
  field: string;
  read: ReturnType<typeof readField>;
}

/**
 * The fields of a usable condition that signals are not known to have. One may be there all the same: unknown fields
 * travel along.
 */
export function unknownFields(condition: unknown, path: RulePath): UnknownField[] {
  if (!isObject(condition)) return [];
  const { field, conditions, condition: inner } = condition;
  if (Array.isArray(conditions))
    return conditions.flatMap((each, index) => unknownFields(each, [...path, 'conditions', index]));
  if (inner !== undefined) return unknownFields(inner, [...path, 'condition']);
  if (typeof field !== 'string' || KNOWN.has(field)) return [];
  return [{ path: [...path, 'field'], field, read: readField(field) }];
}
