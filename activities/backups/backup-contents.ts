import type { BackupSection } from '../../schemas/backups/backups.js';

/** A collection of a backup. */
export interface Archived {
  collection: string;
  section: BackupSection;
}

/**
 * The collections of a backup, in the order in which they are read. What others refer to is read after them: a file
 * whose partition was deleted meanwhile finds none when it is restored and is left out, while one read the other way
 * round would stand in a partition that has no record. The counters come last, so that no id of the backup is beyond
 * them. Files are read with their bytes and chunks (`write-backup.ts`).
 */
export const ARCHIVED: readonly Archived[] = [
  { collection: 'files', section: 'files' },
  { collection: 'tasks', section: 'tasks' },
  { collection: 'callbacks', section: 'tasks' },
  { collection: 'workspaces', section: 'settings' },
  { collection: 'partitions', section: 'settings' },
  { collection: 'users', section: 'settings' },
  { collection: 'model_endpoints', section: 'settings' },
  { collection: 'presets', section: 'settings' },
  { collection: 'prompts', section: 'settings' },
  { collection: 'settings', section: 'settings' },
  { collection: 'question_sets', section: 'settings' },
  { collection: 'evaluation_questions', section: 'settings' },
  { collection: 'evaluation_results', section: 'settings' },
  { collection: 'evaluation_runs', section: 'settings' },
  { collection: 'answer_feedback', section: 'settings' },
  { collection: 'conversations', section: 'settings' },
  { collection: 'conversation_messages', section: 'settings' },
  { collection: 'import_sources', section: 'settings' },
  { collection: 'schema_steps', section: 'settings' },
  { collection: 'alerts', section: 'signals' },
  { collection: 'alert_scenarios', section: 'signals' },
  { collection: 'watchers', section: 'signals' },
  { collection: 'logins', section: 'signals' },
  { collection: 'api_keys', section: 'signals' },
  { collection: 'rule_sets', section: 'signals' },
  { collection: 'counters', section: 'counters' },
];

/** Why the other collections are in no backup. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  'blobs.files': 'uploads are read through the blob store, with the file that they belong to',
  'blobs.chunks': 'as blobs.files',
  'blobs.writes': 'as blobs.files',
  claims: 'follow from the files',
  alert_counts: 'counted anew from the alerts',
  alert_hours: 'counted anew from the alerts',
  alert_marks: 'of writes under way',
  decision_copies: 'a cache of what CAPI answers',
  held_metrics: 'may have been sent since; CAPI would count them twice',
  sessions: 'who was signed in signs in again',
  workers: 'of processes that run',
  worker_restarts: 'of processes that run',
  embedder_swaps: 'of runs that are not taken up',
  migrations: 'of runs that are not taken up',
  import_runs: 'of runs that are not taken up',
  backup_runs: 'of runs that are not taken up',
  record_store: 'names the store itself, whatever is restored into it',
  backup_parts: 'of a run under way',
};

/** A stack that holds something of these is not empty. */
export const TELLING: readonly string[] = [
  'files',
  'partitions',
  'users',
  'workspaces',
  'tasks',
  'alerts',
  'watchers',
  'logins',
  'api_keys',
  'rule_sets',
  'import_sources',
  'conversations',
  'answer_feedback',
  'model_endpoints',
  'presets',
  'prompts',
];

/** What a stack holds from its start on: all of it, or some records beside those that someone made. */
export const SEEDED: readonly string[] = [
  'model_endpoints',
  'presets',
  'prompts',
  'settings',
  'schema_steps',
];

/** Counters that are worked out from what is stored; a restored value would be believed. */
export const DERIVED_COUNTERS: readonly string[] = ['statistics', 'statistics-segments', 'scenario-names'];
