import { bodyParser } from '@koa/bodyparser';
import multer from '@koa/multer';
import type Koa from 'koa';
import { AppError } from '../../schemas/app-error.js';
import { countBody, countForm } from './count-body.js';
import { unpackBody } from './unpack-body.js';
import { invalidRequest } from '../../schemas/request-issues.js';

const MAX_FORM = '1mb';
const MEGABYTE = 1024 * 1024;

const urlEncoded = bodyParser({
  enableTypes: ['form'],
  formLimit: MAX_FORM,
  onError(error) {
    const { status } = error as Error & { status?: number };
    if (status === 413) throw new AppError('PAYLOAD_TOO_LARGE', undefined, { plain: true, cause: error });
    throw new AppError('BAD_REQUEST', 'The form cannot be read', { plain: true, cause: error });
  },
});

/** The types of the package forget `none`. */
type TextForm = { none(): (ctx: never, next: () => Promise<void>) => Promise<void> };

const MULTIPART_LIMITS = {
  fieldNameSize: 100,
  fieldSize: MEGABYTE,
  fields: 50,
  files: 0,
  parts: 50,
  headerPairs: 100,
};

const FORM_TYPES = ['urlencoded', 'multipart'];

/** Whether a request carries a form, or no body at all. */
export function isFormOrNothing(ctx: Koa.Context): boolean {
  return ctx.request.is(...FORM_TYPES) !== false || !hasBody(ctx);
}

/** `is` answers null for a request without a body; a length of nothing is none either. */
export function hasBody(ctx: Koa.Context): boolean {
  return ctx.request.is('*/*') !== null && ctx.get('Content-Length') !== '0';
}

/** What a parser left at the request. */
function parsedFields(ctx: Koa.Context): Record<string, unknown> {
  const body = (ctx.request as { body?: unknown }).body ?? (ctx.req as { body?: unknown }).body ?? {};
  return body as Record<string, unknown>;
}

/**
 * JSON that is sent as a form is one field of an odd name, or of no text where it has brackets.
 * @throws AppError VALIDATION_ERROR when a form that was read has fields, and none of those known
 */
export function requireKnownField(ctx: Koa.Context, known: object): void {
  const names = Object.keys(parsedFields(ctx));
  if (names.length > 0 && !names.some((name) => Object.hasOwn(known, name)))
    throw invalidRequest([
      { type: 'content_type', loc: ['body'], msg: 'The form has none of the known fields', input: null },
    ]);
}

/** The texts that a parser left at the request; of a repeated field the last one counts. */
export function textFields(ctx: Koa.Context): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(parsedFields(ctx))) {
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    if (typeof last === 'string') fields[name] = last;
  }
  return fields;
}

/**
 * The text fields of a form, url-encoded or multipart; of a repeated one the last. No body is an empty form.
 * @throws AppError VALIDATION_ERROR (422) for another type of body, or a file; BAD_REQUEST, PAYLOAD_TOO_LARGE;
 *   SERVICE_UNAVAILABLE when bodies take too much room
 */
export async function readForm(ctx: Koa.Context): Promise<Record<string, string>> {
  if (!hasBody(ctx)) return {};
  const kind = ctx.request.is(...FORM_TYPES);
  if (kind === false || kind === null)
    throw invalidRequest([
      { type: 'content_type', loc: ['body'], msg: 'The body must be sent as a form', input: null },
    ]);
  await (kind === 'urlencoded' ? readUrlEncoded(ctx) : readMultipart(ctx));
  return textFields(ctx);
}

async function readUrlEncoded(ctx: Koa.Context): Promise<void> {
  const unpacked = unpackBody(ctx);
  const { refused } = countBody(unpacked);
  await Promise.race([urlEncoded(unpacked, async () => {}), refused]);
}

async function readMultipart(ctx: Koa.Context): Promise<void> {
  const { refused, streamHandler } = countForm(ctx);
  const options = { streamHandler, limits: MULTIPART_LIMITS } as multer.Options;
  const parser = multer(options) as unknown as TextForm;
  try {
    await Promise.race([parser.none()(ctx as never, async () => {}), refused]);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { name, code, field } = error as Error & { code?: string; field?: string };
    if (name === 'MulterError' && (code === 'LIMIT_UNEXPECTED_FILE' || code === 'LIMIT_FILE_COUNT'))
      throw invalidRequest([
        { type: 'unexpected_file', loc: ['body', field ?? 'file'], msg: 'No file is taken', input: null },
      ]);
    throw new AppError('BAD_REQUEST', 'The form cannot be read', { plain: true, cause: error });
  }
}

/** A field's text. @throws AppError VALIDATION_ERROR when it is not there, or empty */
export function requiredField(fields: Readonly<Record<string, string>>, name: string): string {
  const value = fields[name];
  if (value === undefined || value === '')
    throw invalidRequest([{ type: 'missing', loc: ['body', name], msg: 'Field required', input: null }]);
  return value;
}
