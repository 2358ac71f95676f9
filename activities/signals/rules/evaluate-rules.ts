import type { CompiledRule, Facts, RuleMode } from './compiled-rule.js';
import type { NewAlert } from '../../../schemas/signals/signals.js';

export interface Verdict {
  filtered: boolean;
  /** Of every rule that matches, in rule order; a signal that passes in allow mode has them as well. */
  reasons: string[];
  /** The names of those rules, in the same order. */
  matched: string[];
}

/**
 * Asks every enabled rule that applies to the watcher, without stopping at the first match, so that all reasons are
 * recorded. In block mode any match holds the signal back, in allow mode the lack of one does (proxy spec, section
 * 3.3).
 * @param facts absent: rules for some watchers only are left out, and `geo.…` and `proxy.…` are missing fields
 */
export function evaluateRules(
  rules: readonly CompiledRule[],
  mode: RuleMode,
  signal: unknown,
  facts?: Facts,
): Verdict {
  const reasons: string[] = [];
  const matched: string[] = [];
  for (const rule of rules) {
    if (!rule.enabled) continue;
    if (rule.watchers !== null && (facts === undefined || !rule.appliesTo(facts.proxy.watcher))) continue;
    try {
      const reason = rule.condition(signal, facts);
      if (reason === null) continue;
      reasons.push(reason);
      matched.push(rule.name);
    } catch {
      // A condition does not throw; should one all the same, the other rules still decide.
    }
  }
  return { filtered: mode === 'block' ? reasons.length > 0 : reasons.length === 0, reasons, matched };
}

/** What rules may ask about an alert beside its signal, from its columns after enrichment. */
export function factsOf(fields: NewAlert['fields'], proxy: Facts['proxy']): Facts {
  return {
    geo: {
      countryCode: fields.geoCountryCode,
      countryName: fields.geoCountryName,
      city: fields.geoCity,
      region: fields.geoRegion,
      latitude: fields.geoLatitude,
      longitude: fields.geoLongitude,
      timezone: fields.geoTimezone,
    },
    proxy: { watcher: proxy.watcher, version: proxy.version },
  };
}
