import multer from '@koa/multer';
import type Koa from 'koa';
import type { AppError } from '../../../schemas/app-error.js';
import type { Received, UploadName } from '../../../activities/documents/commands/received-upload.js';
import type { BlobStore } from '../../../activities/ports/files.js';
import { countForm } from '../../http/count-body.js';
import { textFields } from '../../http/read-form.js';
import { createBlobStorageEngine } from './blob-storage-engine.js';
import { formError, isTooLarge, tooLarge, UPLOAD_FORM_LIMITS, UPLOAD_FORM_OVERHEAD } from './upload-form.js';

export interface ReceiveOptions {
  blobs: BlobStore;
  upload: UploadName;
  maxBytes: number;
  signal: AbortSignal;
}

/**
 * Reads a multipart form, streaming its `file` part into the blob store. When this throws, nothing is left in the
 * store; when it returns, the caller owns the bytes and must call `discard` unless the upload is admitted.
 * @throws AppError 400, 413 or 422 for a form that cannot be read, 503 when bodies take too much room; the blob
 *   store's own
 */
export async function receiveUpload(ctx: Koa.Context, options: ReceiveOptions): Promise<Received> {
  if (Number(ctx.get('Content-Length')) > options.maxBytes + UPLOAD_FORM_OVERHEAD)
    throw tooLarge(options.maxBytes);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const storage = createBlobStorageEngine(options.blobs, options.upload, signal);
  let filename: string | null = null;
  const { refused, streamHandler } = countForm(ctx);
  const parser = multer({
    streamHandler,
    storage: storage.engine,
    limits: { ...UPLOAD_FORM_LIMITS, fileSize: options.maxBytes },
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
    await Promise.race([parser.single('file')(ctx as never, async () => {}), refused]);
  } catch (error) {
    stop.abort();
    await storage.discard();
    if (!isTooLarge(error)) throw formError(error, options.signal);
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
}
