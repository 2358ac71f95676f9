/** Rules that are saved over the API; see `adapters.ts` for the rules that hold for all ports. */
import type { SavedRuleSet, SavedRuleSetHead } from '../../schemas/signals/saved-rules.js';

export interface SavedRuleStore {
  /**
   * What tells the newest set from any other, also from one that had its number before a restore; null: there is none.
   */
  newest(): Promise<Pick<SavedRuleSet, 'version' | 'savedAt'> | null>;
  /** @param version left out: the newest */
  get(version?: number): Promise<SavedRuleSet | null>;
  /** The newest first. */
  list(limit: number): Promise<SavedRuleSetHead[]>;
  /**
   * Saves a version behind `after` (0: there was none), and removes those beyond the newest `keep`. Null when another
   * one came meanwhile.
   */
  save(
    set: Pick<SavedRuleSet, 'texts' | 'savedBy' | 'note' | 'savedAt'>,
    options: { after: number; keep: number },
  ): Promise<SavedRuleSet | null>;
}
