import type { Alert } from '../queries';

export const PAGE = 200;

export interface PageStart {
  /** Alerts of the same moment that were read before. */
  offset: number;
  /** When the last one of the page before came in; null for the first page. */
  until: string | null;
}

/**
 * Each page begins where the one before ended, not at a number: alerts leave a filtered list while it is read, and
 * those behind them move up. What came in at that very moment is read twice.
 */
export function pageAfter(
  last: readonly Pick<Alert, 'receivedAt'>[],
  { offset, until }: PageStart,
): PageStart | undefined {
  const end = last.at(-1)?.receivedAt;
  if (end === undefined || last.length < PAGE) return undefined;
  return end === until ? { offset: offset + PAGE, until } : { offset: 0, until: end };
}
