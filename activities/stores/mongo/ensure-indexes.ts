import { MongoServerError } from 'mongodb';
import type { Db, IndexDescription } from 'mongodb';
import { LISTED_FIELDS } from './signals/alert-document.js';
import { BLOB_COLLECTIONS } from './documents/blob-collections.js';
import { toMongoAppError } from './mongo-errors.js';

/**
 * Every index, with the query it serves. Unique ones that hold for some records only are sparse on a field that
 * exists only while the rule applies; partial indexes are not used.
 */
const INDEXES: Record<string, IndexDescription[]> = {
  users: [
    { key: { token_digest: 1 }, unique: true, sparse: true },
    { key: { pending_tasks: 1 }, sparse: true },
    { key: { external_user_id: 1 }, unique: true, sparse: true },
    { key: { email_key: 1 }, unique: true, sparse: true },
    { key: { deleted_at: 1 }, sparse: true },
  ],
  partitions: [{ key: { 'members.user_id': 1 } }, { key: { deleted_at: 1 }, sparse: true }],
  files: [
    { key: { name_key: 1 }, unique: true, sparse: true },
    { key: { partition: 1, file_id: 1 } },
    // How many live files and chunks partitions hold: the list of partitions.
    { key: { partition: 1, 'live.chunk_count': 1 } },
    { key: { partition_key: 1 } },
    { key: { created_by: 1 } },
    { key: { 'live.task_id': 1 } },
    { key: { tombstone_at: 1 }, sparse: true },
    // Pages of the files of a relationship, by id: each begins where the one before ended.
    { key: { partition: 1, 'live.relationship_id': 1, file_id: 1 } },
    { key: { workspaces: 1 } },
    // What a crash left between a record and its chunks: the sweep.
    { key: { chunk_updates: 1 } },
    // The attachments of a mail.
    { key: { 'attached.to': 1 }, sparse: true },
  ],
  workspaces: [
    { key: { name_key: 1 }, unique: true, sparse: true },
    { key: { partition: 1, workspace_id: 1 } },
    { key: { deleted_at: 1 }, sparse: true },
  ],
  prompts: [
    { key: { prompt_type: 1, name: 1 }, unique: true },
    { key: { prompt_type: 1, former_name: 1 }, sparse: true },
  ],
  tasks: [
    { key: { state: 1, created_at: 1 } },
    { key: { cleaned_at: 1, finished_at: 1 } },
    { key: { file_key: 1, generation: 1 } },
    // A user's queue and list; what waits for its turn.
    { key: { user_id: 1, state: 1, created_at: 1 } },
    // What was uploaded into a partition: of one user, or of all.
    { key: { partition: 1, state: 1, created_at: 1, user_id: 1 } },
    { key: { state: 1, handed_over_at: 1, user_id: 1, created_at: 1 } },
  ],
  callbacks: [
    { key: { state: 1, attempts: 1, created_at: 1 } },
    // What was settled long ago: the sweep.
    { key: { state: 1, updated_at: 1 } },
  ],
  // The latest of a partition.
  embedder_swaps: [{ key: { partition_key: 1, started_at: -1 } }],
  // The versions of a set, the newest first.
  question_sets: [{ key: { partition_key: 1, name: 1, version: -1 }, unique: true }],
  evaluation_questions: [{ key: { version_id: 1, index: 1 } }, { key: { partition_key: 1 } }],
  // The runs of a partition, the newest first.
  evaluation_runs: [{ key: { partition_key: 1, started_at: -1 } }],
  evaluation_results: [{ key: { run_id: 1, index: 1 } }, { key: { partition_key: 1 } }],
  answer_feedback: [
    { key: { partition_key: 1, created_at: -1 } },
    // What a user said in a partition, the newest first.
    { key: { user_id: 1, partition_key: 1, created_at: -1 } },
  ],
  // The conversations of a user, the one that was changed last in front.
  conversations: [{ key: { user_id: 1, updated_at: -1 } }],
  // Those of a conversation, and of a user, that are deleted.
  conversation_messages: [{ key: { conversation_id: 1 } }, { key: { user_id: 1 } }],
  // The latest run of each migration.
  migrations: [{ key: { name: 1, started_at: -1 } }],
  workers: [{ key: { seen_at: 1 }, expireAfterSeconds: 86_400 }],
  // At its end, which is a time of its own for each.
  sessions: [
    { key: { expires_at: 1 }, expireAfterSeconds: 0 },
    // What an identity provider ends.
    { key: { 'identity.sid': 1 }, sparse: true },
    { key: { 'identity.subject': 1 }, sparse: true },
  ],
  claims: [{ key: { holders: 1 } }, { key: { file_key: 1 } }],
  alerts: [
    { key: { watcher: 1, identity: 1 }, unique: true },
    // The queue of a watcher, in order.
    { key: { watcher: 1, state: 1, position: 1 } },
    // What waits or is quarantined, over all watchers: the summaries and the sweep.
    { key: { state: 1, received_at: 1 } },
    // The list of the management API, newest first, alone and behind each of its filters. What became of an alert
    // stands in front of the time, so that a page of those filtered costs as little where there are few of them.
    { key: { received_at: -1, _id: -1 } },
    { key: { filtered: 1, forwarded: 1, received_at: -1, _id: -1 } },
    ...LISTED_FIELDS.map((field) => ({
      key: { [field]: 1, filtered: 1, forwarded: 1, received_at: -1, _id: -1 },
    })),
  ],
  alert_counts: [{ key: { parent: 1 } }, { key: { hour: 1 } }],
  watchers: [
    { key: { history: 1 } },
    // Who waits although CAPI has taken signals since: the sweep.
    { key: { next_attempt_at: 1 } },
    { key: { last_success_at: 1 } },
    // Those that CAPI never let in: the places of an address, and whose time is over.
    { key: { 'stranger.address': 1, 'stranger.since': 1, _id: 1 } },
    { key: { 'stranger.until': 1 } },
  ],
  api_keys: [
    { key: { name: 1 }, unique: true },
    { key: { digest: 1 }, unique: true },
    { key: { 'previous.digest': 1 }, sparse: true },
  ],
  logins: [{ key: { 'block.until': 1 } }],
  // A copy is of use while a token of its watcher may be, a day after the last pull.
  decision_copies: [{ key: { at: 1 }, expireAfterSeconds: 7 * 24 * 3600 }],
  held_metrics: [
    { key: { watcher: 1, state: 1, received_at: 1, place: 1 } },
    { key: { state: 1, received_at: 1 } },
    // What CAPI refused is kept for a month.
    { key: { refused_at: 1 }, expireAfterSeconds: 30 * 24 * 3600 },
  ],
  [BLOB_COLLECTIONS.files]: [
    { key: { filename: 1 }, unique: true },
    { key: { filename: 1, uploadDate: 1 } },
    { key: { 'metadata.file_key': 1 }, sparse: true },
  ],
  [BLOB_COLLECTIONS.chunks]: [{ key: { files_id: 1, n: 1 }, unique: true }],
  [BLOB_COLLECTIONS.writes]: [{ key: { touched_at: 1 } }],
};

/** MongoDB's error code of `dropIndexes`. */
const INDEX_NOT_FOUND = 27;

/** Indexes of earlier releases that no query uses any more: each would cost every write its share. */
const RETIRED: Record<string, string[]> = {
  alerts: [
    'matched_1_received_at_-1',
    'filtered_1_received_at_-1__id_-1',
    'forwarded_1_received_at_-1__id_-1',
    'fields.geoCountryCode_1_received_at_-1__id_-1',
    'fields.machineId_1_received_at_-1__id_-1',
    'fields.sourceIp_1_received_at_-1__id_-1',
    'fields.sourceValue_1_received_at_-1__id_-1',
  ],
  files: ['partition_1_live.relationship_id_1'],
  tasks: ['state_1_handed_over_at_1_user_id_1'],
};

/** Creates the indexes that are missing and drops those of earlier releases; repeating it is harmless. */
export async function ensureIndexes(db: Db): Promise<void> {
  try {
    for (const [collection, indexes] of Object.entries(INDEXES))
      await db.collection(collection).createIndexes(indexes);
    for (const [collection, names] of Object.entries(RETIRED)) {
      const there = new Set((await db.collection(collection).indexes()).map(({ name }) => name));
      for (const name of names.filter((retired) => there.has(retired)))
        await db.collection(collection).dropIndex(name).catch(ignoreMissing);
    }
  } catch (error) {
    throw toMongoAppError(error);
  }
}

/** Another process that starts at the same moment has dropped it. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof MongoServerError && error.code === INDEX_NOT_FOUND)) throw error;
}
