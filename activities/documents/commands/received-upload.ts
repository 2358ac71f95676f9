import type { AppError } from '../../../schemas/app-error.js';

/** What the bytes of an upload are stored under. Admission decides whether it is the file that was foreseen. */
export interface UploadName {
  blobId: string;
  fileKey: string;
  generation: number;
}

/** What is known of the one file of an upload once it is stored. */
export interface StoredPart {
  originalName: string;
  mimetype: string;
  size: number;
  sha256: string;
}

export interface ReceivedUpload {
  /** Null when there was no file, or the file was not saved. */
  file: StoredPart | null;
  /** Name of the file part even when saving it failed. */
  filename: string | null;
  /** Text fields; of a repeated one the last. */
  fields: Readonly<Record<string, string>>;
  /** Why the file was not saved; raised at its place in the order of checks, which is a late one. */
  fault: AppError | null;
}

/** With the way to remove its bytes again. */
export type Received = ReceivedUpload & { discard(): Promise<void> };
