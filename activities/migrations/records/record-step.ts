import type { RecordChange, StoredRecord } from '../../ports/migrations.js';

/**
 * One step over the records of a collection. It is done while processes of the release before still read and write:
 * they must work with a record before and after it, and must write none that needs it.
 */
export interface RecordStep {
  /** Never changed: what was done is remembered by it. */
  name: string;
  /** What it does, in plain words. */
  title: string;
  collection: string;
  /** Of the top level; the record is changed only while all of them are as they were read. */
  fields: readonly string[];
  /** Null: the record has the new shape. What it answers must make it answer null. */
  change(record: StoredRecord): Omit<RecordChange, 'record'> | null;
}
