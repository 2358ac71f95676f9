/** What questions are about. */
export interface Scope {
  /** Null: every partition of the caller. */
  partition: string | null;
  workspace: string | null;
  file_id: string | null;
}
