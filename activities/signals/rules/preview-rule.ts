import { AppError } from '../../../schemas/app-error.js';
import type { EvaluatedSignal } from '../../../schemas/signals/signals.js';
import type { AlertStore } from '../../ports/signals.js';
import { compileRule } from './compile-rule.js';
import type { CompiledRule, Facts } from './compiled-rule.js';
import { factsOf } from './evaluate-rules.js';
import { createLoopShare } from './loop-share.js';
import { unknownFields } from './unknown-fields.js';
import type { UnknownField } from './unknown-fields.js';

export interface Preview {
  scanned: number;
  complete: boolean;
  matched: number;
  newlyMatched: number;
  notes: string[];
  samples: { signal: EvaluatedSignal; reason: string }[];
}

/** A stored signal may be a mebibyte, and a page of them is held. */
const PAGE = 25;
const SAMPLES = 20;
/** Other requests wait while a rule is tried, and the worst expression is slow. */
const TIMEOUT_MS = 5_000;

/**
 * Tries a rule on stored signals, the newest first, and changes nothing. It sees what it would have seen on arrival:
 * the bytes of the signal, its place, its sender.
 * @throws AppError BAD_REQUEST that says what is wrong with the rule; as the store does
 */
export async function previewRule(
  alerts: Pick<AlertStore, 'readBack'>,
  { filter, watchers, limit }: { filter: unknown; watchers?: unknown; limit: number },
  { signal, timeoutMs = TIMEOUT_MS }: { signal?: AbortSignal; timeoutMs?: number } = {},
): Promise<Preview> {
  const { rule, notes } = compiled(filter, watchers);
  let unseen = unknownFields(filter, ['filter']);
  const result: Preview = { scanned: 0, complete: true, matched: 0, newlyMatched: 0, notes, samples: [] };
  const deadline = performance.now() + timeoutMs;
  const share = createLoopShare();
  let belowId: number | null = null;
  while (result.scanned < limit) {
    const page: EvaluatedSignal[] = await alerts.readBack({
      belowId,
      limit: Math.min(PAGE, limit - result.scanned),
    });
    for (const stored of page) {
      if (performance.now() > deadline || signal?.aborted === true)
        return withUnseen({ ...result, complete: false }, unseen);
      belowId = stored.id;
      result.scanned += 1;
      const known = readStored(stored);
      unseen = unseen.filter((one) => known === null || !isThere(one, known));
      const reason = known === null ? null : reasonFor(rule, stored.watcher, known);
      if (reason !== null) {
        result.matched += 1;
        if (!stored.filtered) result.newlyMatched += 1;
        if (result.samples.length < SAMPLES) result.samples.push({ signal: stored, reason });
      }
      await share();
    }
    if (page.length === 0) break;
  }
  return withUnseen(result, unseen);
}

/** A misspelt field matches nothing, or with `ne` everything, and looks like a rule. */
function withUnseen(result: Preview, unseen: readonly UnknownField[]): Preview {
  const notes = unseen.map(
    ({ path, field }) =>
      `body/${path.join('/')} ${JSON.stringify(field)} is not known as a field, and none of the ${result.scanned} signals has it`,
  );
  return { ...result, notes: [...result.notes, ...notes].slice(0, SAMPLES) };
}

function compiled(filter: unknown, watchers: unknown): { rule: CompiledRule; notes: string[] } {
  const faults: string[] = [];
  const notes: string[] = [];
  const source = { name: 'preview', filter, ...(watchers === undefined ? {} : { watchers }) };
  const rule = compileRule(source, (path, message, weight) => {
    (weight === 'note' ? notes : faults).push(`body/${path.join('/')} ${message}`);
  });
  if (rule === null || faults.length > 0)
    throw new AppError('BAD_REQUEST', faults[0] ?? 'body/filter cannot be used');
  return { rule, notes: notes.slice(0, SAMPLES) };
}

interface Known {
  signal: unknown;
  facts: Facts;
}

function readStored(stored: EvaluatedSignal): Known | null {
  try {
    return { signal: JSON.parse(stored.raw) as unknown, facts: factsOf(stored.fields, stored) };
  } catch {
    // What is quarantined may be nested too deeply to be read.
    return null;
  }
}

function isThere({ read }: UnknownField, { signal, facts }: Known): boolean {
  return read(signal, facts).some((value) => value !== undefined);
}

function reasonFor(rule: CompiledRule, watcher: string, { signal, facts }: Known): string | null {
  if (!rule.appliesTo(watcher)) return null;
  try {
    return rule.condition(signal, facts);
  } catch {
    return null;
  }
}
