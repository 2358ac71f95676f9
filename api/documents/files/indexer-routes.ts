import { z } from 'zod';
import { supportedTypes } from '../../../activities/documents/parsing/file-types.js';
import {
  CopyForm,
  MessageBody,
  MetadataForm,
  SupportedTypes,
  UploadAccepted,
  UploadForm,
} from '../../../schemas/documents/documents-api.js';
import { deleteFile } from '../../../activities/documents/commands/delete-file.js';
import { empty, json, route } from '../../http/route.js';
import type { Route } from '../../http/route.js';
import type { GatewayDeps } from '../../gateway-deps.js';
import { copyDocument } from './copy-document.js';
import { requireIdentifier } from '../../../activities/documents/commands/identifiers.js';
import { FileParams } from '../../http/identifiers.js';
import { patchDocument } from './patch-document.js';
import { serverAbilities } from '../../../activities/documents/commands/server-abilities.js';
import { uploadDocument } from './upload-document.js';

const UPLOAD_ERRORS = [
  'RATE_LIMITED',
  'BAD_REQUEST',
  'AUTH_ERROR',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
  'DOCUMENT_CONTENT_EXISTS',
  'SERVICE_UNAVAILABLE',
  'VDB_SCHEMA_MIGRATION_REQUIRED',
  'DEFAULT_EMBEDDER_MIGRATION_REQUIRED',
] as const;

const UploadQuery = z.object({
  create_partition: z.stringbool().default(true).meta({
    description: 'Where false, a document for a missing partition is refused with 404',
  }),
});

/** Uploads, replacements and deletions of documents. */
export function indexerRoutes(deps: GatewayDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/indexer/supported/types',
      summary: 'File types that this server reads, by extension and MIME type',
      tag: 'Indexing',
      auth: 'user',
      responses: { 200: { description: 'Extensions and MIME types', schema: SupportedTypes } },
      handle: async () => json(200, supportedTypes(await serverAbilities(deps, null))),
    }),
    route({
      method: 'post',
      path: '/indexer/partition/{partition}/file/{file_id}',
      summary: 'Upload a document; a missing partition is created with the caller as its owner',
      tag: 'Indexing',
      auth: { partition: 'editor' },
      request: { params: FileParams, query: UploadQuery, multipart: UploadForm },
      responses: { 201: { description: 'Admitted', schema: UploadAccepted } },
      errors: [
        ...UPLOAD_ERRORS,
        'QUOTA_EXCEEDED',
        'RESERVED_PARTITION_NAME',
        'PARTITION_LIMIT_EXCEEDED',
        'PARTITION_NOT_FOUND',
        'WORKSPACE_NOT_FOUND',
        'FILE_EXISTS',
        'DOCUMENT_INDEXING_IN_PROGRESS',
      ],
      async handle(ctx, { params, query }) {
        const named = { ...params, creates_partition: query.create_partition };
        return json(201, await uploadDocument(deps, ctx, named, 'create'));
      },
    }),
    route({
      method: 'put',
      path: '/indexer/partition/{partition}/file/{file_id}',
      summary: 'Replace a document; the old version stays searchable until the new one is indexed',
      tag: 'Indexing',
      auth: { partition: 'editor' },
      request: { params: FileParams, multipart: UploadForm.omit({ workspace_ids: true }) },
      responses: { 202: { description: 'Admitted', schema: UploadAccepted } },
      errors: [...UPLOAD_ERRORS, 'FILE_NOT_FOUND'],
      handle: async (ctx, { params }) => json(202, await uploadDocument(deps, ctx, params, 'replace')),
    }),
    route({
      method: 'post',
      path: '/indexer/partition/{partition}/file/{file_id}/copy',
      summary:
        'Copy an indexed document with its chunks and vectors; answered once the copy is live. With ' +
        'CONTENT_DEDUPLICATION_ENABLED a copy within one partition is 409',
      tag: 'Indexing',
      auth: { partition: 'editor' },
      request: { params: FileParams, multipart: CopyForm },
      responses: { 201: { description: 'Copied', schema: MessageBody } },
      errors: [
        'BAD_REQUEST',
        'AUTH_ERROR',
        'QUOTA_EXCEEDED',
        'PARTITION_NOT_FOUND',
        'FILE_NOT_FOUND',
        'FILE_EXISTS',
        'DOCUMENT_INDEXING_IN_PROGRESS',
        'DOCUMENT_CONTENT_EXISTS',
        'CONFLICT',
        'VALIDATION_ERROR',
        'RATE_LIMITED',
        'SERVICE_UNAVAILABLE',
      ],
      async handle(ctx, { params }) {
        await copyDocument(deps, ctx, params);
        return json(201, { message: 'File copied successfully.' });
      },
    }),
    route({
      method: 'patch',
      path: '/indexer/partition/{partition}/file/{file_id}',
      summary: 'Merge metadata into a document without indexing it again; the key `partition` moves it',
      tag: 'Indexing',
      auth: { partition: 'editor' },
      request: { params: FileParams, multipart: MetadataForm },
      responses: { 200: { description: 'Changed', schema: MessageBody } },
      errors: [
        'BAD_REQUEST',
        'AUTH_ERROR',
        'PARTITION_NOT_FOUND',
        'FILE_NOT_FOUND',
        'FILE_EXISTS',
        'DOCUMENT_CONTENT_EXISTS',
        'CONFLICT',
        'VALIDATION_ERROR',
      ],
      async handle(ctx, { params }) {
        await patchDocument(deps, ctx, params);
        return json(200, { message: `Metadata for file '${params.file_id}' successfully updated.` });
      },
    }),
    route({
      method: 'delete',
      path: '/indexer/partition/{partition}/file/{file_id}',
      summary: 'Delete a document and everything made of it',
      tag: 'Indexing',
      auth: { partition: 'editor' },
      request: { params: FileParams },
      responses: { 204: { description: 'Deleted' } },
      errors: ['BAD_REQUEST', 'AUTH_ERROR', 'FILE_NOT_FOUND'],
      async handle(ctx, { params }) {
        requireIdentifier('partition name', params.partition);
        requireIdentifier('file id', params.file_id);
        const { workflows } = deps;
        await deleteFile(
          { ...deps.adapters, workflows, log: ctx.log },
          { partition: params.partition, fileId: params.file_id },
        );
        return empty(204);
      },
    }),
  ];
}
