import { z } from 'zod';
import { MIGRATIONS } from '../migrations/migrations.js';
import { EmbedderSwap } from './embedder-swaps-api.js';
import { IndexedEmbedder } from './partitions-api.js';
import type { ParseReport } from './parse-report.js';
import { STAGES, TASK_STATES } from './tasks.js';
import { ROLES } from './users.js';

/** Request and answer bodies of the document surface, as `/openapi.json` shows them. */

/** Keys that the server sets and keys that the client chose, flattened. */
export const OpenMetadata = z.record(z.string(), z.unknown()).meta({ id: 'Metadata' });

export const Link = z
  .string()
  .meta({ description: 'Absolute URL', examples: ['http://127.0.0.1:8080/extract/abc'] });

/** A number in a query or a form: the empty text is no number. */
export function queryNumber(schema: z.ZodType<number>) {
  return z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    schema,
  );
}

/** How many to list; 0 lists none, and leaves the rest of the answer. */
export const ListLimit = queryNumber(z.int().min(0));

export const PlainError = z.object({ detail: z.string() }).meta({ id: 'PlainError' });

export const DomainError = z
  .object({
    detail: z.string().meta({ examples: ['[PARTITION_EXISTS]: The partition exists already.'] }),
    extra: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'DomainError' });

export const InvalidRequest = z
  .object({
    detail: z.array(
      z.looseObject({
        type: z.string(),
        loc: z.array(z.union([z.string(), z.number()])),
        msg: z.string(),
        input: z.unknown().optional(),
      }),
    ),
  })
  .meta({ id: 'InvalidRequest' });

/** What an error has under `/v1` beside `detail`: clients of the OpenAI format read nothing else. */
const error = z.object({
  message: z.string(),
  type: z.literal('error'),
  param: z.null(),
  code: z.string().meta({ examples: ['CONTEXT_TOO_LONG'] }),
});

/** The same three under `/v1`. */
export const OpenAiErrors = {
  plain: PlainError.extend({ error }).meta({ id: 'OpenAiPlainError' }),
  domain: DomainError.extend({ error }).meta({ id: 'OpenAiDomainError' }),
  invalid: InvalidRequest.extend({ error }).meta({ id: 'OpenAiInvalidRequest' }),
};

export const VersionBody = z
  .object({ version: z.string(), api_version: z.string() })
  .meta({ id: 'VersionBody' });

const CHECK_STATES = ['ok', 'timeout', 'unavailable', 'unresolvable', 'pending', 'required'] as const;
export const CheckState = z.enum(CHECK_STATES);
export type CheckState = z.infer<typeof CheckState>;

export const ReadyBody = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    checks: z.record(z.string(), CheckState),
    model_endpoints: z.array(
      z.object({ provider: z.literal('configured'), kind: z.string(), status: CheckState }),
    ),
    configuration_references: z.array(z.object({ kind: z.string(), count: z.int(), status: z.string() })),
    migrations: z
      .array(
        z.object({
          name: z.enum(MIGRATIONS),
          state: z.enum(['pending', 'required']),
          dark: z.array(z.string()).meta({ description: 'What does not work until it ran' }),
          next: z.string().meta({ description: 'What to do' }),
        }),
      )
      .meta({ description: 'Those that are to be run; they do not make the service unready' }),
    problems: z.array(z.string()).optional().meta({
      description:
        'Engines that turn the service away: a sentence each, which begins with the variable to look at',
    }),
  })
  .meta({ id: 'ReadyBody' });
export type ReadyBody = z.infer<typeof ReadyBody>;

const PartitionRow = z
  .object({
    partition: z.string(),
    file_count: z.int().meta({ description: 'The same value as document_count, for older clients' }),
    document_count: z.int(),
    chunk_count: z.int().meta({ description: 'Extracts of the files' }),
    description: z.string().meta({ description: 'Empty when unset' }),
    embedder: z.string(),
    embedder_swap: EmbedderSwap.nullable().meta({
      description: 'The last move to another embedder; null when there never was one',
    }),
    indexation_preset: z.string(),
    retrieval_preset: z.string(),
    dimension: z.int().nullable(),
    chat_history_depth: z.int(),
    chat_llm: z.string().nullable(),
    created_at: z.iso.datetime(),
    role: z.enum(ROLES).optional(),
  })
  .meta({ id: 'PartitionRow' });
export const PartitionList = z.object({ partitions: z.array(PartitionRow) });

const FileRow = z
  .looseObject({
    link: Link,
    partition: z.string(),
    file_id: z.string(),
    relationship_id: z.string().nullable(),
    parent_id: z.string().nullable(),
    content_sha256: z.string(),
    indexed_at: z.iso.datetime(),
  })
  .meta({ id: 'FileRow', description: "The file's metadata keys are flattened into the row." });
export const FileList = z.object({ files: z.array(FileRow) });

const ParseReportAnswer = z
  .object({
    parser: z.string().meta({ description: 'The library that read the file' }),
    parser_version: z.string().nullable(),
    pages: z.int().nullable().meta({ description: 'Null where the format has none' }),
    pages_without_text: z.int().nullable(),
    pages_by_ocr: z.int(),
    ocr_confidence: z.number().min(0).max(1).nullable().meta({ description: 'Mean' }),
    pictures: z
      .object({ kept: z.int(), left_out: z.int(), reasons: z.array(z.string()) })
      .nullable()
      .meta({ description: 'Handed to a model to be described, and left out with the reasons' }),
    encoding: z.string().nullable().meta({ description: 'Of text formats, as it was found' }),
    tables: z.int(),
    characters: z.int().meta({ description: 'Of the text that was kept' }),
    characters_dropped: z.int().meta({ description: 'Read and left out: menus, running titles' }),
    degraded: z.boolean().meta({ description: 'Content was lost; the rest is indexed' }),
    reasons: z.array(z.string()).meta({ description: 'What was lost and why' }),
    warnings: z.array(z.string()),
    attachments: z
      .array(z.object({ name: z.string(), file_id: z.string().nullable(), reason: z.string().nullable() }))
      .optional()
      .meta({
        description:
          'Of a mail whose attachments are files of their own (preset, `attachments_as_files`): each with the id of ' +
          'its file, or the reason why there is none',
      }),
    duration_ms: z.int(),
    peak_memory_mb: z.int().nullable(),
  })
  .meta({ id: 'ParseReport', description: 'What came of reading the file' }) satisfies z.ZodType<ParseReport>;

const DEGRADED = { description: 'Reading lost content of the file, or an enrichment failed' };

export const FileDetail = z
  .object({
    metadata: OpenMetadata,
    documents: z.array(z.object({ link: Link })),
    degraded: z.literal(true).optional().meta(DEGRADED),
    parse_report: ParseReportAnswer.optional().meta({ description: 'Absent for files of earlier releases' }),
  })
  .meta({ id: 'FileDetail' });

/** What a file's metadata may hold: values of all depths, and bytes of their JSON. */
export const MAX_METADATA_VALUES = 256;
export const MAX_METADATA_BYTES = 64 * 1024;
const METADATA_SIZE = `at most ${MAX_METADATA_VALUES} values and ${MAX_METADATA_BYTES} bytes`;

export const UploadForm = z
  .object({
    file: z.file().meta({
      description:
        'The document, of a type that `GET /indexer/supported/types` lists; the part needs a file name, whose extension says the type',
    }),
    metadata: z
      .string()
      .optional()
      .meta({
        description:
          `A JSON object, ${METADATA_SIZE}. \`relationship_id\` and \`parent_id\` (texts) tie files together, \`created_at\` is ` +
          'kept in UTC, `mimetype` says how an unknown extension is read; keys that answers fill themselves are left out',
        examples: ['{"owner": "ada"}'],
      }),
    workspace_ids: z.string().optional().meta({ description: 'A JSON array of workspace ids; POST only' }),
    callback_url: z
      .string()
      .optional()
      .meta({
        description:
          'A public address that gets a POST of `{partition, file_id, status, metadata}` when the task is COMPLETED (`success`) or ' +
          'FAILED (`error`), at least once, for up to a day; a 2xx counts as taken, and no redirect is followed',
      }),
    callback_token: z.string().optional().meta({ description: 'Sent there as `Authorization: Bearer`' }),
  })
  .meta({ id: 'UploadForm' });

export const MetadataForm = z
  .object({
    metadata: z.string().meta({ description: `A JSON object; its keys are merged, to ${METADATA_SIZE}` }),
  })
  .meta({ id: 'MetadataForm' });

export const CopyForm = z
  .object({
    source_partition: z.string(),
    source_file_id: z.string(),
    metadata: z
      .string()
      .optional()
      .meta({ description: `A JSON object; its keys are merged, to ${METADATA_SIZE}` }),
  })
  .meta({ id: 'CopyForm' });

export const UploadAccepted = z.object({ task_status_url: Link }).meta({ id: 'UploadAccepted' });

export const TaskStatus = z
  .object({
    task_id: z.string(),
    task_state: z.enum(TASK_STATES),
    details: z
      .object({ file_id: z.string(), partition: z.string(), metadata: OpenMetadata, user_id: z.int() })
      .meta({
        description:
          "`file_id` and `metadata` are empty for an administrator who cannot reach the file's partition",
      }),
    stage: z.enum(STAGES),
    progress: z.number().min(0).max(1),
    attempt: z.int(),
    created_at: z.iso.datetime(),
    started_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
    error: z
      .object({ code: z.string(), message: z.string() })
      .optional()
      .meta({ description: 'When FAILED or superseded' }),
    error_url: Link.optional().meta({ description: 'Only when FAILED' }),
    degraded_stages: z.array(z.string()).optional().meta({
      description:
        'Enrichments that failed, and without which the document is indexed; `parse` when reading lost content',
    }),
    degraded: z.literal(true).optional().meta(DEGRADED),
    parse_report: ParseReportAnswer.optional().meta({ description: 'Once the file was read' }),
  })
  .meta({ id: 'TaskStatus' });
export type TaskStatus = z.infer<typeof TaskStatus>;

export const QueueTask = z
  .object({
    task_id: z.string(),
    state: z.enum(TASK_STATES),
    details: TaskStatus.shape.details,
    created_at: z.iso.datetime(),
    duration_ms: z.int().nullable(),
    url: Link,
    error: TaskStatus.shape.error,
    error_url: Link.optional().meta({ description: 'Only when FAILED' }),
    workflow_id: z
      .string()
      .optional()
      .meta({ description: 'Of its work in Temporal; for administrators only' }),
  })
  .meta({ id: 'QueueTask' });
export type QueueTask = z.infer<typeof QueueTask>;
export const QueueTasks = z.object({ tasks: z.array(QueueTask) });

export const QueueInfo = z
  .object({
    workers: z.object({ total_slots: z.int(), pool_size: z.int(), max_per_actor: z.int() }),
    tasks: z.object({
      active: z.int(),
      active_statuses: z.object({ QUEUED: z.int(), SERIALIZING: z.int() }),
      total_cancelled: z.int(),
      total_completed: z.int(),
      total_failed: z.int(),
    }),
  })
  .meta({ id: 'QueueInfo' });

export const ActorList = z
  .object({
    actors: z.array(
      z.object({
        actor_id: z.string(),
        name: z.string(),
        class_name: z.string(),
        state: z.enum(['ALIVE', 'DEAD', 'PENDING_CREATION']),
        namespace: z.string(),
      }),
    ),
  })
  .meta({ id: 'ActorList' });

export const ActorRestarted = z
  .object({ message: z.string(), actor_name: z.string(), actor_id: z.string() })
  .meta({ id: 'ActorRestarted' });

export const TaskError = z
  .object({
    task_id: z.string(),
    reason: z.string().optional().meta({ description: 'Administrators only' }),
    summary: z.string(),
    traceback: z.array(z.string()),
  })
  .meta({ id: 'TaskError' });

export const MessageBody = z.object({ message: z.string() }).meta({ id: 'Message' });

export const SupportedTypes = z
  .object({ extensions: z.array(z.string()), mimetypes: z.array(z.string()) })
  .meta({ id: 'SupportedTypes' });

export const PartitionSnapshot = z
  .object({
    partition: z.string(),
    embedder: z.string(),
    indexed_embedders: z.array(IndexedEmbedder),
    files: z.int(),
    pending_files: z.int(),
    expected_chunks: z.int().meta({ description: 'Chunks of the live versions' }),
    indexed_chunks: z.int().meta({ description: 'In the index, whatever version they belong to' }),
    published_chunks: z.int(),
    degraded_files: z.int(),
    document_ids: z.array(z.string()).optional().meta({ description: 'When asked for; the first 10,000' }),
    document_ids_truncated: z.boolean().optional(),
  })
  .meta({ id: 'PartitionSnapshot' });

export const Extract = z.object({ page_content: z.string(), metadata: OpenMetadata }).meta({ id: 'Extract' });

export const PageQuery = z.object({
  from: queryNumber(z.int().min(0))
    .optional()
    .meta({ description: 'Of the passage within the extract, in Unicode code points, as `char_start`' }),
  to: queryNumber(z.int().min(0)).optional(),
});

const share = z.number().meta({ description: 'As a share of the page, from its upper left corner' });

export const PageMarks = z
  .object({
    page: z.int(),
    width: z.int().meta({ description: 'Of the picture, in dots' }),
    height: z.int(),
    marks: z.array(z.object({ x: share, y: share, width: share, height: share })),
  })
  .meta({ id: 'PageMarks' });
