import { buffer } from 'node:stream/consumers';
import { parse } from 'lossless-json';
import { checkContent } from '../parsing/content-check.js';
import { mimetypeOfKind, resolveFileKind } from '../parsing/file-types.js';
import type { Abilities } from '../parsing/file-types.js';
import type { RandomAccessBytes } from '../parsing/random-access-bytes.js';
import { isPublicUrl } from '../../outbound/address-guard.js';
import type { Adapters } from '../../ports/adapters.js';
import { AppError } from '../../../schemas/app-error.js';
import { isLikeVectorField } from '../../../schemas/models/endpoint-names.js';
import type { UploadInfo } from '../../../schemas/documents/documents.js';
import { badRequest, invalidRequest } from '../../../schemas/request-issues.js';
import { readClientMetadata } from './client-metadata.js';
import type { ClientMetadata } from './client-metadata.js';
import type { ReceivedUpload } from './received-upload.js';
import { plain415 } from './refusals.js';
import { safeFilename } from './safe-filename.js';

const MAX_CALLBACK_LENGTH = 4096;

interface Callback {
  url: string;
  token: string | null;
}

export interface CheckedUpload extends ClientMetadata {
  upload: UploadInfo;
  /** Keys. */
  workspaces: string[];
  callback: Callback | null;
}

export interface CheckUploadOptions {
  stores: Pick<Adapters, 'blobs' | 'models'>;
  uploadId: string;
  /** What the server can read at this moment. */
  abilities: Abilities;
  /** 409 of a POST; runs at its place in the order. */
  requireNew?: () => Promise<void>;
  /** Ids to keys; a PUT takes no workspaces. @throws AppError WORKSPACE_NOT_FOUND, plain */
  findWorkspaces?: (ids: readonly string[]) => Promise<string[]>;
  allowPrivateCallbacks: boolean;
}

/**
 * What a received form may still be refused for, in the order of precedence of the wire contract, section 1.3:
 * file type and content, metadata, callback, existing file, workspaces, then what went wrong while saving.
 */
export async function checkUpload(
  received: ReceivedUpload,
  options: CheckUploadOptions,
): Promise<CheckedUpload> {
  const { fields, file, fault } = received;
  if (received.filename === null)
    throw invalidRequest([{ type: 'missing', loc: ['body', 'file'], msg: 'Field required', input: null }]);

  const client = await readMetadata(fields['metadata'], options.stores.models);
  const kind = plainly(() =>
    resolveFileKind(
      {
        filename: received.filename ?? '',
        mimetype: client.ok ? client.value.mimetype : null,
      },
      options.abilities,
    ),
  );
  if (file !== null)
    await checkContent(kind, blobBytes(options.stores.blobs, options.uploadId, file.size)).catch(plain415);
  if (!client.ok) throw client.error;
  const callback = readCallback(fields, options.allowPrivateCallbacks);
  await options.requireNew?.();
  const workspaces = await options.findWorkspaces?.(readWorkspaceIds(fields['workspace_ids']));
  if (fault !== null) throw fault;
  if (file === null) throw new AppError('STORAGE_ERROR', 'Failed to save uploaded file.', { plain: true });

  const upload: UploadInfo = {
    upload_id: options.uploadId,
    filename: safeFilename(file.originalName),
    original_filename: file.originalName.slice(0, 1024),
    // The kind's own, and not what the client's library guessed: the worker chooses the parser by it.
    mimetype: mimetypeOfKind(kind),
    size_bytes: file.size,
    content_sha256: file.sha256,
  };
  return { ...client.value, upload, workspaces: workspaces ?? [], callback };
}

/** The embedders are asked for only where the client names what may be a field of theirs. */
async function readMetadata(
  text: string | undefined,
  models: Pick<Adapters['models'], 'list'>,
): Promise<Attempt<ClientMetadata>> {
  const read = attempt(() => readClientMetadata(text, []));
  if (read.ok && !Object.keys(read.value.metadata).some(isLikeVectorField)) return read;
  const endpoints = await models.list('embedder');
  const vectorFields = endpoints.flatMap(({ vector_field }) => vector_field ?? []);
  return attempt(() => readClientMetadata(text, vectorFields));
}

/** The form field: a JSON array of texts, absent or empty meaning none. @throws AppError BAD_REQUEST, plain */
function readWorkspaceIds(text: string | undefined): string[] {
  if (text === undefined || text.trim() === '') return [];
  const parsed = attempt(() => parse(text));
  const ids: unknown = parsed.ok ? parsed.value : null;
  if (!Array.isArray(ids) || !ids.every((id): id is string => typeof id === 'string'))
    throw new AppError('BAD_REQUEST', 'workspace_ids must be a JSON array of strings', { plain: true });
  return ids;
}

type Attempt<T> = { ok: true; value: T } | { ok: false; error: unknown };

function attempt<T>(action: () => T): Attempt<T> {
  try {
    return { ok: true, value: action() };
  } catch (error) {
    return { ok: false, error };
  }
}

function plainly<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    return plain415(error);
  }
}

/**
 * The form fields `callback_url` and `callback_token`; null when there is no address. What a name resolves to is
 * looked at when it is called.
 * @throws AppError BAD_REQUEST (400), plain
 */
function readCallback(fields: Readonly<Record<string, string>>, allowPrivate: boolean): Callback | null {
  const text = fields['callback_url']?.trim() ?? '';
  if (text === '') return null;
  if (text.length > MAX_CALLBACK_LENGTH || !URL.canParse(text))
    throw badRequest('callback_url is not a valid URL');
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  if (!web || !(allowPrivate || isPublicUrl(url)))
    throw badRequest('callback_url must be a public http(s) URL');
  const token = fields['callback_token'] ?? '';
  // What would end the header, or is not Latin text, cannot be sent.
  if (token.length > MAX_CALLBACK_LENGTH || !/^[\x21-\x7e]*$/.test(token))
    throw badRequest('callback_token is not a valid token');
  return { url: url.href, token: token === '' ? null : token };
}

/** A stored blob as bytes that can be read anywhere, for the content check: only what it asks for leaves the store. */
function blobBytes(blobs: Pick<Adapters['blobs'], 'read'>, blobId: string, size: number): RandomAccessBytes {
  return {
    size,
    async read(start, end) {
      return buffer(await blobs.read(blobId, { start, end }));
    },
  };
}
