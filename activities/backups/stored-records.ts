import type { StoredDocument } from '../ports/backups.js';

/** What a backup reads of records as the record store keeps them; everything else passes through unread. */

export type StoredFile = StoredDocument & {
  _id: string;
  partition: string;
  partition_key?: string;
  file_id: string;
  created_by: number | null;
  workspaces?: string[];
  attached?: { to: string; generations: number[] };
  latest_generation: number;
  live: {
    generation: number;
    task_id: string;
    upload_id: string;
    content_sha256: string;
    embedder: string;
    chunk_count: number;
  } | null;
  pending_task: string | null;
  created_at: Date;
  tombstone_at?: Date;
};

export type StoredTask = StoredDocument & {
  _id: string;
  kind: 'index' | 'copy';
  state: string;
  generation: number;
  file_key: string;
  user_id: number;
  upload: { upload_id: string; content_sha256: string };
  created_at: Date;
};
