/** The record store itself. */
export interface RecordStore {
  /**
   * A random name that the store was given once and keeps. The chunks name it too, so that an empty or another record
   * store on the same vector store is not taken for one whose files were all deleted.
   */
  id(): Promise<string>;
}
