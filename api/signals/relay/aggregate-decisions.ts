import type { ApiVersion } from '../../../schemas/signals/signals.js';
import { goDuration, goDurationMs } from '../../../activities/signals/reading/go-duration.js';
import { isObject } from '../../../schemas/is-object.js';

/** One decision of the full set: what CAPI said, and when it ends (milliseconds since 1970; null: unknown). */
export interface KeptDecision {
  scope: string;
  value: string;
  scenario: string;
  until: number | null;
  /** The duration as it came. */
  duration: string;
  /** v2: the whole decision. */
  whole?: Record<string, unknown>;
}

/** The full set that follows from a start-up answer and the deltas after it. */
export interface AggregatedDecisions {
  version: ApiVersion;
  decisions: KeptDecision[];
  /** v3: links to lists, as the last answer had them. */
  links?: unknown;
}

/** More decisions than this are not kept; the community list has some tens of thousands. */
const DECISIONS_LIMIT = 300_000;

type Fields = Record<string, unknown>;

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function targetOf({ scope, value }: { scope: string; value: string }): string {
  return `${scope.toLowerCase()}\n${value}`;
}

function keyOf(decision: KeptDecision): string {
  return `${targetOf(decision)}\n${decision.scenario}\n${textOf(decision.whole?.['type'])}`;
}

/** Whether this is an answer of `GET /decisions/stream`, and not another one with its status. */
export function isDecisionStream(answer: unknown): answer is Fields {
  return isObject(answer) && ('new' in answer || 'deleted' in answer);
}

/**
 * Aggregates an answer of `GET /decisions/stream` into the set kept before (proxy spec, 6.2): what is deleted goes
 * first, then what is new comes, as a local API server does it. An answer to `startup=true` replaces the set. Null when
 * there is no set to add to, when it is no such answer, or when the set grows beyond the limit.
 */
export function aggregateDecisions(
  before: AggregatedDecisions | null,
  answer: unknown,
  { version, startup, at }: { version: ApiVersion; startup: boolean; at: number },
): AggregatedDecisions | null {
  if (!isDecisionStream(answer)) return null;
  if (!startup && before === null) return null;
  const kept = new Map<string, KeptDecision>();
  if (!startup) {
    const gone = new Set(deletedIn(answer, version));
    for (const decision of before!.decisions) {
      const over = decision.until !== null && decision.until <= at;
      if (!over && !gone.has(targetOf(decision))) kept.set(keyOf(decision), decision);
    }
  }
  for (const decision of newIn(answer, version, at)) kept.set(keyOf(decision), decision);
  if (kept.size > DECISIONS_LIMIT) return null;
  const links = 'links' in answer ? answer['links'] : before?.links;
  return { version, decisions: [...kept.values()], ...(links === undefined ? {} : { links }) };
}

/**
 * The set as CAPI would answer `startup=true` now: durations have run down meanwhile, and what has ended is left out.
 * Or, for a request without start-up, that nothing has changed: each delta that was aggregated had been sent to the
 * watcher.
 */
export function expandDecisions(
  { version, decisions, links }: AggregatedDecisions,
  { startup, at }: { startup: boolean; at: number },
): Record<string, unknown> {
  const rest = version === 'v3' ? { links: links ?? { blocklists: [], allowlists: [] } } : {};
  if (!startup) return { new: [], deleted: [], ...rest };
  const running = decisions.filter(({ until }) => until === null || until > at);
  const left = ({ until, duration }: KeptDecision): string =>
    until === null ? duration : goDuration(until - at);
  if (version === 'v2')
    return {
      new: running.map((decision) => ({ ...decision.whole, duration: left(decision) })),
      deleted: [],
    };
  const groups = new Map<string, { scenario: string; scope: string; decisions: object[] }>();
  for (const decision of running) {
    const { scenario, scope, value } = decision;
    const name = `${scenario}\n${scope}`;
    const group = groups.get(name) ?? { scenario, scope, decisions: [] };
    group.decisions.push({ value, duration: left(decision) });
    groups.set(name, group);
  }
  return { new: [...groups.values()], deleted: [], ...rest };
}

function untilOf(duration: string, at: number): number | null {
  const ms = goDurationMs(duration);
  return ms === null ? null : at + ms;
}

function newIn(said: Fields, version: ApiVersion, at: number): KeptDecision[] {
  return listOf(said['new']).flatMap((entry): KeptDecision[] => {
    const fields = fieldsOf(entry);
    const [scope, scenario] = [textOf(fields['scope']), textOf(fields['scenario'])];
    if (version === 'v2') {
      const [value, duration] = [textOf(fields['value']), textOf(fields['duration'])];
      const until = untilOf(duration, at);
      return value === '' ? [] : [{ scope, value, scenario, until, duration, whole: fields }];
    }
    return listOf(fields['decisions']).flatMap((inner) => {
      const { value, duration } = fieldsOf(inner);
      if (typeof value !== 'string') return [];
      return [{ scope, value, scenario, until: untilOf(textOf(duration), at), duration: textOf(duration) }];
    });
  });
}

function deletedIn(said: Fields, version: ApiVersion): string[] {
  return listOf(said['deleted']).flatMap((entry) => {
    const fields = fieldsOf(entry);
    const scope = textOf(fields['scope']);
    if (version === 'v2') return [targetOf({ scope, value: textOf(fields['value']) })];
    return listOf(fields['decisions']).map((value) => targetOf({ scope, value: textOf(value) }));
  });
}
