import type { z } from 'zod';
import { AppError } from '../../../schemas/app-error.js';
import type { AppErrorOptions } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';

/** What can go wrong between us and a model server, whatever its dialect. */
export type FailureKind =
  | 'connection'
  | 'timeout'
  /** 401, 403. */
  | 'credentials'
  /** 404: the model, or the path. */
  | 'unknown-model'
  /** The input is longer than the model takes. */
  | 'too-long'
  | 'rate-limited'
  /** Another 4xx. */
  | 'refused'
  /** 5xx. */
  | 'failed'
  /** An answer that cannot be read. */
  | 'bad-answer';

export class ProviderFailure extends Error {
  override readonly name = 'ProviderFailure';
  constructor(
    readonly kind: FailureKind,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number | undefined; status?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
  readonly retryAfterMs: number | undefined;
  /** Of the server's answer, when there was one. */
  readonly status: number | undefined;
}

/** Each kind's code, and where the contract asks for one its own status (section 1.1). */
type Row = readonly [code: ErrorCode, status?: number];

const CHAT: Readonly<Record<FailureKind, Row>> = {
  connection: ['INFERENCE_CONNECTION_ERROR'],
  timeout: ['INFERENCE_TIMEOUT'],
  credentials: ['INFERENCE_REFUSED'],
  'unknown-model': ['INFERENCE_ERROR'],
  'too-long': ['CONTEXT_TOO_LONG'],
  'rate-limited': ['INFERENCE_ERROR'],
  refused: ['INFERENCE_ERROR'],
  failed: ['INFERENCE_ERROR'],
  'bad-answer': ['LLM_PARSING_ERROR'],
};

/** `refused`: a text that the server takes in no size will not be taken tomorrow, so that task ends. */
const EMBEDDING: Readonly<Record<FailureKind, Row>> = {
  connection: ['EMBEDDING_API_ERROR'],
  timeout: ['EMBEDDING_API_ERROR', 504],
  credentials: ['INFERENCE_REFUSED'],
  'unknown-model': ['EMBEDDING_API_ERROR'],
  'too-long': ['EMBEDDING_RESPONSE_ERROR'],
  'rate-limited': ['EMBEDDING_API_ERROR'],
  refused: ['EMBEDDING_RESPONSE_ERROR'],
  failed: ['EMBEDDING_API_ERROR'],
  'bad-answer': ['EMBEDDING_RESPONSE_ERROR'],
};

/** A reranker's own status is kept where it gave one (agreed description, "Errors"). */
const RERANKING: Readonly<Record<FailureKind, Row>> = { ...CHAT, 'too-long': ['INFERENCE_ERROR'] };

/** A recording that the server refuses today will not be taken tomorrow, so that task ends. */
const TRANSCRIPTION: Readonly<Record<FailureKind, Row>> = {
  ...CHAT,
  'too-long': ['FILE_TOO_COMPLEX'],
  refused: ['UNSUPPORTED_CONTENT'],
};

const ROWS = { chat: CHAT, embedding: EMBEDDING, reranking: RERANKING, transcription: TRANSCRIPTION };

/** A provider's failure as a row of the error table; anything else is passed through as it is. */
export function providerError(error: unknown, use: keyof typeof ROWS, endpointName: string): unknown {
  if (!(error instanceof ProviderFailure)) return error;
  const [code, ownStatus] = ROWS[use][error.kind];
  const kept = use === 'reranking' && code === 'INFERENCE_ERROR' ? error.status : undefined;
  const status = kept ?? ownStatus;
  const message =
    code === 'CONTEXT_TOO_LONG'
      ? `Request exceeds maximum token limit. ${error.message}`
      : `Model endpoint '${endpointName}': ${error.message}`;
  const options: AppErrorOptions = {
    cause: error,
    ...(status !== undefined && { status }),
    ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
  };
  return new AppError(code, message, options);
}

/** A provider's answer in the shape it should have. @throws ProviderFailure `bad-answer` that names the first fault */
export function readAs<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  what: string,
): z.output<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new ProviderFailure(
    'bad-answer',
    `the provider's ${what} has another form than expected (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
  );
}
