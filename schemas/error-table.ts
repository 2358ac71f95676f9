/**
 * The one error table of the house. A code is thrown in a store or an activity as an `AppError`, carried
 * through Temporal as `ApplicationFailure.type`, shown as a task's error and answered as the HTTP status.
 *
 * Source of codes and statuses: the document service's wire contract, section 1.1 (code table) and section 2
 * (failure codes of a task).
 */
export interface ErrorRow {
  /** HTTP status of the answer that reports it. */
  readonly status: number;
  /** Whether an activity that failed so is tried again. */
  readonly retryable: boolean;
  /** What a person reads when the thrower has nothing better to say. */
  readonly message: string;
}

function row(status: number, message: string, retryable = false): ErrorRow {
  return {
    status,
    retryable,
    message,
  };
}

export const ERROR_TABLE = {
  // Requests
  VALIDATION_ERROR: row(422, 'The request is not valid.'),
  BAD_REQUEST: row(400, 'The request is not valid.'),
  UNSUPPORTED_MEDIA_TYPE: row(415, 'This type of file is not supported.'),
  PAYLOAD_TOO_LARGE: row(413, 'The request is too large.'),
  REQUEST_TIMEOUT: row(408, 'The body of the request did not arrive in time.'),
  INVALID_FILTER: row(400, 'The filter is not valid.'),
  AUTH_ERROR: row(403, 'Not allowed.'),
  AUTHENTICATION_ERROR: row(401, 'Unauthenticated'),
  RATE_LIMITED: row(429, 'Rate limit exceeded. Please retry later.', true),
  QUOTA_EXCEEDED: row(429, 'The quota is used up.'),
  PARTITION_LIMIT_EXCEEDED: row(403, 'You own as many partitions as are allowed.'),
  RESERVED_PARTITION_NAME: row(400, 'This partition name is reserved.'),
  CONFIG_ERROR: row(500, 'The service is not configured correctly.'),
  INSECURE_SECRET_CONFIGURATION: row(500, 'A secret is too weak.'),

  // Records
  NOT_FOUND: row(404, 'Not found.'),
  FILE_NOT_FOUND: row(404, 'The file does not exist.'),
  PARTITION_NOT_FOUND: row(404, 'The partition does not exist.'),
  USER_NOT_FOUND: row(404, 'The user does not exist.'),
  WORKSPACE_NOT_FOUND: row(404, 'Workspace not found'),
  MEMBERSHIP_NOT_FOUND: row(404, 'The membership does not exist.'),
  TASK_NOT_FOUND: row(404, 'The task does not exist.'),
  USER_EXISTS: row(409, 'A user with this external id or mail address exists already.'),
  WORKSPACE_EXISTS: row(409, 'The workspace exists already.'),
  MEMBERSHIP_EXISTS: row(409, 'The user is a member already.'),
  LAST_OWNER: row(409, 'A partition keeps at least one owner.'),
  PRECONDITION_FAILED: row(412, 'Another version is there than the one that If-Match names: read it first.'),
  PRECONDITION_REQUIRED: row(428, 'If-Match must name the version that the change follows.'),
  CONFLICT: row(409, 'The request conflicts with the present state.'),
  MODEL_ENDPOINT_EXISTS: row(409, 'A model endpoint of this type and name exists already.'),
  MODEL_ENDPOINT_IN_USE: row(409, 'The model endpoint is in use.'),
  EMBEDDER_EDIT_AFFECTS_INDEXED_DATA: row(409, 'Indexed files have vectors of this embedder.'),
  EMBEDDER_SWAP_IN_PROGRESS: row(409, 'The embedder of the partition is being swapped.'),
  EMBEDDER_SWAP_HELD_BACK: row(409, 'The new embedder does not reach the figures that were asked for.'),
  EMBEDDER_SWAP_BROKEN_OFF: row(409, 'The swap of the embedder was broken off from outside.'),
  EMBEDDER_SWAP_NOT_RUNNING: row(409, 'The embedder of the partition is not being swapped.'),
  QUESTION_SET_NOT_FOUND: row(404, 'The question set does not exist.'),
  EVALUATION_NOT_FOUND: row(404, 'The evaluation run does not exist.'),
  EVALUATION_RUNNING: row(409, 'An evaluation of this partition is running already.'),
  EVALUATION_NOT_RUNNING: row(409, 'The evaluation is not running.'),
  EVALUATION_LIMIT_EXCEEDED: row(409, 'The partition holds as many of these as are allowed.'),
  CONVERSATION_LIMIT_EXCEEDED: row(409, 'The conversation is as long as one may be: begin another one.'),
  EMBEDDER_VECTOR_FIELD_MISSING: row(409, 'The embedder has no vector field.'),
  PRESET_EXISTS: row(409, 'A preset of this type and name exists already.'),
  PRESET_IN_USE: row(409, 'The preset is in use.'),
  PROMPT_EXISTS: row(409, 'A prompt of this type and name exists already.'),
  PARTITION_EXISTS: row(409, 'The partition exists already.'),
  FILE_EXISTS: row(409, 'The file exists already.'),
  DOCUMENT_INDEXING_IN_PROGRESS: row(409, 'The document is being indexed already.'),
  DOCUMENT_CONTENT_EXISTS: row(409, 'The same content is in this partition already.'),
  PARTITION_HAS_INDEXED_FILES: row(409, 'The partition holds indexed files.'),
  INDEXING_IN_PROGRESS: row(409, 'Files of this partition are being indexed.'),
  TASK_NOT_CANCELLABLE: row(409, 'The task has ended and cannot be cancelled.'),
  WORKSPACE_AMBIGUOUS: row(422, 'The workspace exists in more than one of the searched partitions.'),
  MODEL_ENDPOINT_NOT_FOUND: row(422, 'The model endpoint is not registered.'),
  EMBEDDER_ALIAS_NOT_ALLOWED: row(422, 'A concrete embedder is needed here, not the alias of the default.'),
  PRESET_NOT_FOUND: row(422, 'The preset does not exist.'),
  PROMPT_NOT_FOUND: row(422, 'The prompt does not exist.'),
  MIGRATION_RUNNING: row(409, 'This migration is running already.'),
  MIGRATION_NOT_RUNNING: row(409, 'This migration is not running.'),
  MIGRATION_NOT_POSSIBLE: row(409, 'The migration cannot be done as things stand.'),
  MIGRATION_NOT_VERIFIED: row(409, 'What is stored is not what the migration makes.'),
  IMPORT_RUNNING: row(409, 'An import from this source is running already.'),
  IMPORT_NOT_RUNNING: row(409, 'No import from this source is running.'),
  BACKUP_RUNNING: row(409, 'A backup or a restore is running already.'),
  BACKUP_NOT_RUNNING: row(409, 'No backup and no restore is running.'),
  BACKUP_NOT_CONFIGURED: row(409, 'BACKUP_LOCATION names no place for backups.'),
  BACKUP_NOT_USABLE: row(409, 'The backup cannot be restored.'),
  RESTORE_NOT_EMPTY: row(409, 'The stores hold records already; a restore would replace them.'),
  NOT_IMPLEMENTED: row(501, 'This is not available in this release.'),

  // Reasons for which an indexing task fails
  NO_INDEXABLE_CONTENT: row(422, 'No text to index was found in the document.'),
  FILE_ENCRYPTED: row(422, 'The file is protected by a password and cannot be read.'),
  FILE_CORRUPT: row(422, 'The file is damaged or incomplete and cannot be read.'),
  FILE_TOO_COMPLEX: row(422, 'The file goes beyond the limits on pages, expansion, nesting or memory.'),
  PARSE_TIMEOUT: row(422, 'Reading the file took longer than is allowed.'),
  PARSER_CRASHED: row(422, 'The program that reads this type of file crashed on it.', true),
  PARSER_INTERNAL_ERROR: row(
    500,
    'The program that reads this type of file failed by a fault of its own, not of the file. Please report it.',
    true,
  ),
  UNSUPPORTED_CONTENT: row(422, 'The content of the file cannot be read as its type says.'),
  EMBEDDER_CHANGED_DURING_INDEXING: row(409, "The partition's embedder changed while the file was indexed."),
  SUPERSEDED: row(409, 'A newer upload of the same file replaced this one.'),
  TASK_CANCELLED: row(409, 'The task was cancelled.'),
  TASK_EXPIRED: row(504, 'The task did not end within the time allowed.'),

  // Models
  INFERENCE_ERROR: row(503, 'The model provider failed.', true),
  INFERENCE_CONNECTION_ERROR: row(503, 'The model provider cannot be reached.', true),
  INFERENCE_TIMEOUT: row(504, 'The model provider did not answer in time.', true),
  INFERENCE_REFUSED: row(502, 'The model provider refused our credentials.'),
  LLM_PARSING_ERROR: row(502, 'The model answered in a form that cannot be read.'),
  EMBEDDING_API_ERROR: row(503, 'The embedding provider failed.', true),
  EMBEDDING_RESPONSE_ERROR: row(422, 'The embedding provider answered in an unknown form.'),
  CIRCUIT_BREAKER_OPEN: row(503, 'The provider failed repeatedly and is left alone for a moment.', true),
  CONTEXT_TOO_LONG: row(413, 'Request exceeds maximum token limit.'),

  // Completion callbacks
  CALLBACK_FAILED: row(502, 'The callback was not taken.', true),
  CALLBACK_REFUSED: row(400, 'The address of the callback is not allowed.'),

  // Documents fetched from an address
  DOWNLOAD_FAILED: row(502, 'The address gave no document.', true),
  DOWNLOAD_REFUSED: row(400, 'The address is not allowed.'),

  // Services that are imported from
  IMPORT_SOURCE_FAILED: row(502, 'The source of the import gave no answer.', true),
  IMPORT_SOURCE_REFUSED: row(
    502,
    'The source of the import refused us, or answered what the contract has not.',
  ),

  // The central API (CAPI)
  CAPI_UNREACHABLE: row(502, 'Failed to forward to CAPI', true),

  // Stores and engines
  VDB_ERROR: row(500, 'The vector store failed.', true),
  VDB_CONNECTION_ERROR: row(503, 'The vector store cannot be reached.', true),
  VDB_INSERT_ERROR: row(422, 'The vector store refused a chunk.'),
  VDB_SEARCH_ERROR: row(422, 'The vector store refused the search.'),
  VDB_DELETE_ERROR: row(422, 'The vector store refused a deletion.', true),
  VDB_COLLECTION_ERROR: row(422, 'The index of the vector store is missing or was refused.'),
  VDB_SCHEMA_MIGRATION_REQUIRED: row(503, 'The vector store must be migrated first.'),
  DEFAULT_EMBEDDER_MIGRATION_REQUIRED: row(
    503,
    'Partitions of an earlier release use the default embedder and are not tied to an endpoint yet: mark the embedder ' +
      'that made their vectors as the default (not the built-in one), and run the migration default-embedder.',
  ),
  STORAGE_ERROR: row(500, 'The record store failed.', true),
  BACKUP_STORAGE_ERROR: row(503, 'The storage of backups cannot be reached.', true),
  BACKUP_STORAGE_REFUSED: row(409, 'The storage of backups refuses us.'),
  SERVICE_UNAVAILABLE: row(503, 'Service unavailable', true),
  UNEXPECTED_ERROR: row(500, 'An unexpected error occurred', true),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERROR_TABLE;

/** Whether a text from outside (a failure's type, a stored record) is one of our codes. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_TABLE, text);
}
