/** What replication writes into a decision's origin, so that it is recognised when the signal comes back. */
const REPLICATION_ORIGIN = 'crowdsieve-replication';

/**
 * The loop guard: a signal whose decision was replicated from another LAPI must not reach CAPI a second time
 * (proxy spec, section 3.3). A ban made by hand (origin `crowdsieve`) does go out.
 */
export const isReplicatedSignal = (signal: unknown): boolean => {
  const decisions = (signal as { decisions?: unknown } | null)?.decisions;
  if (!Array.isArray(decisions)) return false;
  return decisions.some((decision: unknown) => {
    const origin = (decision as { origin?: unknown } | null)?.origin;
    return typeof origin === 'string' && origin.includes(REPLICATION_ORIGIN);
  });
};
