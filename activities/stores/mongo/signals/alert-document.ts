import type { Alert, ApiVersion, DeliveryState, NewAlert } from '../../../../schemas/signals/signals.js';
import { compactJson } from '../../../signals/compact-json.js';

/** An alert as collection `alerts` keeps it. */
export interface AlertDocument {
  /** From the counter `alert`: ever increasing, never used twice. */
  _id: number;
  watcher: string;
  /** Unique per watcher. */
  identity: string;
  version: ApiVersion;
  state: DeliveryState;
  state_reason: string | null;
  /** Its place in the watcher's queue: the id, or a later number once it has been released from quarantine. */
  position: number;
  reasons: string[];
  /** Names of the rules that matched, and the version of the rules; missing in records of before. */
  matched?: string[];
  rule_set?: string;
  raw: string;
  bytes: number;
  /** There when `raw` is a note about an item too large to keep; such an alert is never released. */
  note_only?: true;
  received_at: Date;
  filtered: boolean;
  forwarded: boolean;
  forwarded_at: Date | null;
  /** For the filter: servers differ in what "case-insensitive" means. */
  scenario_folded: string;
  fields: NewAlert['fields'];
  decisions: NewAlert['decisions'];
}

/** The fields by which the list of alerts can be narrowed to some values; each has an index of its own. */
export const LISTED_FIELDS = [
  'fields.geoCountryCode',
  'fields.machineId',
  'fields.sourceIp',
  'fields.sourceValue',
  'scenario_folded',
] as const;

export function toDocument(alert: NewAlert, id: number): AlertDocument {
  return {
    _id: id,
    watcher: alert.watcher,
    identity: alert.identity,
    version: alert.version,
    state: alert.state,
    state_reason: alert.stateReason ?? null,
    position: id,
    reasons: alert.reasons,
    ...(alert.matched !== undefined && alert.matched.length > 0 ? { matched: alert.matched } : {}),
    ...(alert.ruleSet === undefined ? {} : { rule_set: alert.ruleSet }),
    raw: alert.raw,
    bytes: Buffer.byteLength(alert.raw),
    ...(alert.noteOnly === true ? { note_only: true } : {}),
    received_at: alert.receivedAt,
    filtered: alert.state === 'filtered',
    forwarded: false,
    forwarded_at: null,
    scenario_folded: alert.fields.scenario.toLowerCase(),
    fields: alert.fields,
    decisions: alert.decisions,
  };
}

/** @param raw null when it is left out of a long list */
export function toAlert(document: Omit<AlertDocument, 'raw'>, raw: string | null): Alert {
  return {
    ...document.fields,
    id: document._id,
    receivedAt: document.received_at.toISOString(),
    filtered: document.filtered,
    filterReasons: document.reasons.length === 0 ? null : JSON.stringify(document.reasons),
    forwardedToCapi: document.forwarded,
    forwardedAt: document.forwarded_at?.toISOString() ?? null,
    rawJson: raw === null ? null : compactJson(raw),
  };
}
