import multer from '@koa/multer';
import type Koa from 'koa';
import { countForm } from '../../http/count-body.js';
import { textFields } from '../../http/read-form.js';
import type { ScratchFile } from './scratch-room.js';
import { formError, isTooLarge, tooLarge, UPLOAD_FORM_LIMITS } from './upload-form.js';

export interface TemporaryUpload {
  /** Null: the form had no file part. */
  file: { path: string; size: number; originalName: string } | null;
  fields: Readonly<Record<string, string>>;
}

/**
 * Reads a multipart form, streaming its `file` part into a directory that the caller removes.
 * @throws AppError 400, 413 or 422 for a form that cannot be read, 503 when bodies or files take too much room
 */
export async function receiveTemporary(
  ctx: Koa.Context,
  options: { directory: string; maxBytes: number; room: ScratchFile; signal: AbortSignal },
): Promise<TemporaryUpload> {
  const { directory, maxBytes, room, signal } = options;
  const { refused, streamHandler } = countForm(ctx, room.take);
  const parser = multer({
    streamHandler,
    storage: multer.diskStorage({
      destination: directory,
      // Never the client's: a name is no path.
      filename: (_request, _file, done) => done(null, 'upload'),
    }),
    limits: { ...UPLOAD_FORM_LIMITS, fileSize: maxBytes },
    preservePath: true,
    // Names come as UTF-8 bytes; the parser's own default would garble them.
    defParamCharset: 'utf8',
  } as multer.Options);
  try {
    await Promise.race([parser.single('file')(ctx as never, async () => {}), refused]);
  } catch (error) {
    throw isTooLarge(error) ? tooLarge(maxBytes) : formError(error, signal);
  }
  const file = (ctx as { file?: { path: string; size: number; originalname: string } }).file;
  return {
    file: file === undefined ? null : { path: file.path, size: file.size, originalName: file.originalname },
    fields: textFields(ctx),
  };
}
