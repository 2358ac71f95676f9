import type { NewAlert } from '../../../schemas/signals/signals.js';
import { isObject } from '../../../schemas/is-object.js';

/**
 * Longest text of a column that is filtered or indexed. A longer one is cut in its column only: `rawJson` and what
 * goes out keep it whole. The management API takes no longer filter than these.
 */
const SHORT_TEXT = 255;
const LONG_TEXT = 4_096;

type Fields = Record<string, unknown>;

function asFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function textOf(limit: number) {
  return (fields: Fields, key: string): string | null => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return typeof value === 'string' ? value.slice(0, limit) : null;
  };
}

const short = textOf(SHORT_TEXT);
const long = textOf(LONG_TEXT);

function number(fields: Fields, key: string): number | null {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function integer(fields: Fields, key: string): number | null {
  const value = number(fields, key);
  return Number.isSafeInteger(value) ? value : null;
}

function isTrue(fields: Fields, key: string): boolean {
  return Object.hasOwn(fields, key) && fields[key] === true;
}

/**
 * What the signal itself tells of the 41 fields (proxy spec, sections 2 and 6.3). Times are the client's own text.
 * CAPI signals carry no simulated, remediation or counters: false, false and null then. Country and place come from
 * the signal's source; a latitude or longitude of 0 is a place like any other.
 */
export function signalFields(signal: unknown): NewAlert['fields'] {
  const fields = asFields(signal);
  const source = asFields(Object.hasOwn(fields, 'source') ? fields['source'] : undefined);
  const decisions = Object.hasOwn(fields, 'decisions') ? fields['decisions'] : undefined;
  const country = short(source, 'cn');
  return {
    uuid: short(fields, 'uuid'),
    machineId: short(fields, 'machine_id'),
    scenario: long(fields, 'scenario') ?? '',
    scenarioHash: short(fields, 'scenario_hash'),
    scenarioVersion: short(fields, 'scenario_version'),
    message: long(fields, 'message'),
    eventsCount: integer(fields, 'events_count'),
    capacity: integer(fields, 'capacity'),
    leakspeed: short(fields, 'leakspeed'),
    startAt: short(fields, 'start_at'),
    stopAt: short(fields, 'stop_at'),
    createdAt: short(fields, 'created_at'),
    simulated: isTrue(fields, 'simulated'),
    remediation: isTrue(fields, 'remediation'),
    hasDecisions: Array.isArray(decisions) && decisions.length > 0,
    replicated: false,
    sourceScope: short(source, 'scope'),
    sourceValue: short(source, 'value'),
    sourceIp: short(source, 'ip'),
    sourceRange: short(source, 'range'),
    sourceAsNumber: short(source, 'as_number'),
    sourceAsName: short(source, 'as_name'),
    sourceCn: country,
    geoCountryCode: country === '' ? null : country,
    geoCountryName: null,
    geoCity: null,
    geoRegion: null,
    geoLatitude: number(source, 'latitude'),
    geoLongitude: number(source, 'longitude'),
    geoTimezone: null,
    geoIsp: null,
    geoOrg: null,
    localAudit: false,
    actor: null,
  };
}
