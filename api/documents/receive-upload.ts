import multer from '@koa/multer';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import type { BlobStore } from '../../activities/ports.js';
import { textFields } from '../read-form.js';
import { invalidRequest } from '../request-issues.js';
import { createBlobStorageEngine } from './blob-storage-engine.js';
import type { StoredPart } from './blob-storage-engine.js';

export interface ReceivedUpload {
  /** Null when the form had no file, or the file was not saved. */
  file: StoredPart | null;
  /** Name of the file part even when saving it failed. */
  filename: string | null;
  /** Text fields; of a repeated one the last. */
  fields: Readonly<Record<string, string>>;
  /** Why the file was not saved; raised at its place in the order of checks, which is a late one. */
  fault: AppError | null;
}

export interface ReceiveOptions {
  blobs: BlobStore;
  blobId: string;
  maxBytes: number;
  signal: AbortSignal;
}

const MEGABYTE = 1024 * 1024;
/** Boundaries, part headers and the text fields, beside the file itself. */
const FORM_OVERHEAD_BYTES = 4 * MEGABYTE;
const FIELD_LIMITS = {
  fieldNameSize: 100,
  fieldSize: MEGABYTE,
  fields: 20,
  files: 1,
  parts: 21,
  headerPairs: 100,
};

const tooLarge = (maxBytes: number): AppError =>
  new AppError(
    'PAYLOAD_TOO_LARGE',
    `File exceeds the maximum allowed size of ${Math.round(maxBytes / MEGABYTE)} MB.`,
    { plain: true },
  );

/**
 * Reads a multipart form, streaming its `file` part into the blob store. When this throws, nothing is left in the
 * store; when it returns, the caller owns the bytes and must call `discard` unless the upload is admitted.
 * @throws AppError 400, 413 or 422 for a form that cannot be read; the blob store's own
 */
export const receiveUpload = async (
  ctx: Koa.Context,
  options: ReceiveOptions,
): Promise<ReceivedUpload & { discard(): Promise<void> }> => {
  if (Number(ctx.get('Content-Length')) > options.maxBytes + FORM_OVERHEAD_BYTES)
    throw tooLarge(options.maxBytes);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const storage = createBlobStorageEngine(options.blobs, options.blobId, signal);
  let filename: string | null = null;
  const parser = multer({
    storage: storage.engine,
    limits: { ...FIELD_LIMITS, fileSize: options.maxBytes },
    preservePath: true,
    // Names come as UTF-8 bytes; the parser's own default would garble them.
    defParamCharset: 'utf8',
    fileFilter(_request, file, callback) {
      filename = file.originalname;
      callback(null, true);
    },
  } as multer.Options);

  let fault: AppError | null = null;
  try {
    await parser.single('file')(ctx as never, async () => {});
  } catch (error) {
    stop.abort();
    await storage.discard();
    if (!isMulterError(error, 'LIMIT_FILE_SIZE')) throw formError(error, options.signal);
    fault = tooLarge(options.maxBytes);
  }
  const fields = textFields(ctx);
  return {
    file: fault === null ? storage.stored() : null,
    filename,
    fields,
    fault,
    discard: storage.discard,
  };
};

const isMulterError = (error: unknown, code?: string): error is Error & { code: string; field?: string } =>
  error instanceof Error &&
  error.name === 'MulterError' &&
  (code === undefined || (error as Error & { code?: string }).code === code);

/** Faults of the form are the client's; a store's own error passes as it is. */
const formError = (error: unknown, clientGone: AbortSignal): Error => {
  if (isMulterError(error)) {
    if (error.code === 'LIMIT_UNEXPECTED_FILE' || error.code === 'LIMIT_FILE_COUNT')
      return invalidRequest([
        {
          type: 'unexpected_file',
          loc: ['body', error.field ?? 'file'],
          msg: 'One part `file` is taken',
          input: null,
        },
      ]);
    return new AppError('BAD_REQUEST', `The form cannot be read: ${error.message}`, {
      plain: true,
      cause: error,
    });
  }
  if (error instanceof AppError && !clientGone.aborted) return error;
  const ours = error instanceof Error && 'code' in error && !clientGone.aborted;
  if (ours)
    return new AppError('STORAGE_ERROR', 'Failed to save uploaded file.', { plain: true, cause: error });
  return new AppError('BAD_REQUEST', 'There was an error parsing the body', { plain: true, cause: error });
};
