/** What the record of every long run has from its beginning on. */
export function begunNow(): { error: null; started_at: Date; updated_at: Date; finished_at: null } {
  const now = new Date();
  return { error: null, started_at: now, updated_at: now, finished_at: null };
}

/** What a record gets at the end of its run. */
export function endedNow(): { updated_at: Date; finished_at: Date } {
  const now = new Date();
  return { updated_at: now, finished_at: now };
}

/** The record of a migration, a backup, a restore or an import before its first step. */
export function newOperation() {
  return { state: 'running', phase: 'starting', done: 0, total: null, figures: {}, ...begunNow() } as const;
}
