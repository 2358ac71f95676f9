/** Imports of what another service of the same contract holds, and the records of their runs. */

export const IMPORT_STATES = ['running', 'paused', 'completed', 'failed', 'cancelled'] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

export function isFinalImportState(state: ImportState): boolean {
  return state !== 'running' && state !== 'paused';
}

/** What an operator calls a source; everything that is known of it stands under this name. */
export const IMPORT_SOURCE_PATTERN = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** A service that is imported from. */
export interface ImportSource {
  source_id: string;
  /** Without a slash at its end. */
  url: string;
  /** Its users by number, and which of ours each became; a key of an object is a text. */
  users: Record<string, number>;
}

/** A file that could not be taken. */
export interface RefusedFile {
  partition: string;
  file_id: string;
  code: string;
  message: string;
}

/** One run of an import. */
export interface ImportRun {
  run_id: string;
  source_id: string;
  /** Counts alone; nothing is changed. */
  dry_run: boolean;
  state: ImportState;
  phase: string;
  /** Files that were looked at. Never goes down. */
  done: number;
  /** As the source counted them; null until it was asked. */
  total: number | null;
  figures: Record<string, number>;
  /** The first of them; how many there are stands in the figures. */
  refused: RefusedFile[];
  /** The id of the user, to whom the imported files belong. */
  started_by: string;
  error: { code: string; message: string } | null;
  started_at: Date;
  updated_at: Date;
  finished_at: Date | null;
}
