import type { DecisionCount } from '../../../schemas/signals/statistics.js';
import { durationCategory } from './duration-category.js';

/** As long as the columns that are indexed. */
const SHORT_TEXT = 255;
/** A signal of a real client has a handful. Of one with more kinds the rest is counted together, as unnamed. */
const MAX_KINDS = 100;

function textOf(decision: unknown, key: string): string | null {
  if (typeof decision !== 'object' || decision === null || !Object.hasOwn(decision, key)) return null;
  const value = (decision as Record<string, unknown>)[key];
  return typeof value === 'string' && value !== '' ? value.slice(0, SHORT_TEXT) : null;
}

/** The decisions of a signal, those that count alike put together, in order of appearance. */
export function countDecisions(signal: unknown): DecisionCount[] {
  const isObject = typeof signal === 'object' && signal !== null && Object.hasOwn(signal, 'decisions');
  const decisions = isObject ? (signal as { decisions: unknown }).decisions : undefined;
  if (!Array.isArray(decisions)) return [];
  const counts = new Map<string, DecisionCount>();
  for (const decision of decisions as unknown[]) {
    const duration = textOf(decision, 'duration');
    const category = duration === null ? null : durationCategory(duration);
    const named = textOf(decision, 'scenario');
    const known = counts.has(`${category}\n${named}`);
    const scenario = known || counts.size < MAX_KINDS ? named : null;
    const key = `${category}\n${scenario}`;
    const entry = counts.get(key) ?? { scenario, category, count: 0 };
    entry.count += 1;
    counts.set(key, entry);
  }
  return [...counts.values()];
}
