import { FORWARDING_WAS_OFF } from '../../../schemas/signals/signals.js';
import type { ApiVersion, NewAlert } from '../../../schemas/signals/signals.js';
import { enrich } from './enrich.js';
import type { GeoLookup } from './geo-lookup.js';
import type { CompiledRule, RuleMode } from '../rules/compiled-rule.js';
import { evaluateRules, factsOf } from '../rules/evaluate-rules.js';
import { compactJson } from '../compact-json.js';
import type { SignalItem } from './read-signals.js';
import { signalFields } from './signal-fields.js';
import { countDecisions } from './count-decisions.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { isObject } from '../../../schemas/is-object.js';

/** What replication writes into a decision's origin, so that it is recognised when the signal comes back. */
const REPLICATION_ORIGIN = 'crowdsieve-replication';

/**
 * The loop guard: a signal whose decision was replicated from another LAPI must not reach CAPI a second time
 * (proxy spec, section 3.3). A ban made by hand (origin `crowdsieve`) does go out.
 */
export function isReplicatedSignal(signal: unknown): boolean {
  const decisions = (signal as { decisions?: unknown } | null)?.decisions;
  if (!Array.isArray(decisions)) return false;
  return decisions.some((decision: unknown) => {
    const origin = (decision as { origin?: unknown } | null)?.origin;
    return typeof origin === 'string' && origin.includes(REPLICATION_ORIGIN);
  });
}

export interface ReceivedSignal {
  item: SignalItem;
  watcher: string;
  version: ApiVersion;
  receivedAt: Date;
  rules: readonly CompiledRule[];
  mode: RuleMode;
  /** Of those rules; unset: not recorded. */
  ruleSet?: string;
  /** Unset: places are what the signal itself tells. */
  geo?: GeoLookup | null;
  /** False: stored and marked so, but not sent. */
  forwarding: boolean;
}

const KEPT_OF_A_LARGE_ITEM = 4_096;

/** Not blanks, not control characters, and not the nil UUID that a careless client might send every time. */
function isSaneUuid(value: unknown): value is string {
  return (
    typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._:-]{7,127}$/.test(value) && /[^0-]/.test(value)
  );
}

/** Why the item cannot be sent, null when its shape is right: CAPI requires a scenario and a source. */
function shapeProblem({ value, problem }: SignalItem): string | null {
  if (problem !== null) return problem.message;
  if (!isObject(value)) return 'the item is not an object';
  const scenario = Object.hasOwn(value, 'scenario') ? value['scenario'] : undefined;
  if (typeof scenario !== 'string' || scenario === '') return 'the item has no "scenario"';
  if (!Object.hasOwn(value, 'source') || !isObject(value['source'])) return 'the item has no "source" object';
  return null;
}

function digestOf({ raw }: SignalItem): string {
  return sha256Hex(compactJson(raw));
}

/** Says plainly that it is not the item: what was too large is not kept, and half of it would be a lie. */
function noteOfLargeItem({ raw, bytes }: SignalItem, digest: string): string {
  return JSON.stringify({
    tamis: 'The item was too large to be kept. This is a note about it.',
    bytes,
    sha256: digest,
    // A pair of surrogates is not cut in half.
    beginning: raw.slice(0, KEPT_OF_A_LARGE_ITEM).replace(/[\uD800-\uDBFF]$/, ''),
  });
}

/**
 * Validates one item, evaluates the rules, and makes the record to store. A bad item is quarantined with the reason and
 * stops no other. Its identity is the uuid, or the digest of the item without the blanks between its parts: always the
 * digest for a bad one, so that a mended item with the same uuid is taken.
 */
export function toNewAlert(received: ReceivedSignal): NewAlert {
  const { item, watcher, version, receivedAt } = received;
  const fields = enrich(signalFields(item.value), received.geo ?? null);
  const common = { watcher, version, receivedAt, fields, decisions: countDecisions(item.value) };
  const problem = shapeProblem(item);
  if (problem !== null) {
    const digest = digestOf(item);
    return {
      ...common,
      identity: `sha256:${digest}`,
      state: 'quarantined',
      reasons: [],
      stateReason: problem,
      ...(item.problem?.kind === 'too-large'
        ? { raw: noteOfLargeItem(item, digest), noteOnly: true }
        : { raw: item.raw }),
    };
  }
  const { uuid } = item.value as { uuid?: unknown };
  const { filtered, reasons, matched } = evaluateRules(
    received.rules,
    received.mode,
    item.value,
    factsOf(fields, { watcher, version }),
  );
  const passed: Pick<NewAlert, 'state' | 'stateReason'> = isReplicatedSignal(item.value)
    ? { state: 'withheld', stateReason: 'loop guard: a decision was replicated from another server' }
    : received.forwarding
      ? { state: 'waiting' }
      : { state: 'withheld', stateReason: FORWARDING_WAS_OFF };
  return {
    ...common,
    identity: isSaneUuid(uuid) ? `uuid:${uuid.toLowerCase()}` : `sha256:${digestOf(item)}`,
    ...(filtered ? { state: 'filtered' } : passed),
    reasons,
    matched,
    ...(received.ruleSet === undefined ? {} : { ruleSet: received.ruleSet }),
    raw: item.raw,
  };
}
