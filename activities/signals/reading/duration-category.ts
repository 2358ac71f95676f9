import type { DurationCategory } from '../../../schemas/signals/statistics.js';
import { goDurationMs } from './go-duration.js';

/** The four classes (proxy spec, section 2). A text that is no duration has none. */
export function durationCategory(text: string): DurationCategory | null {
  const ms = goDurationMs(text);
  if (ms === null) return null;
  const hours = ms / 3_600_000;
  if (hours < 1) return '<1h';
  if (hours < 24) return '1-24h';
  return hours < 168 ? '1-7d' : '>7d';
}
