import { errors } from '@opensearch-project/opensearch';
import { AppError } from '../../../schemas/app-error.js';
import { AccessProblem, tlsProblem } from '../../../schemas/engine-access.js';
import type { ErrorCode } from '../../../schemas/error-table.js';

/** Statuses that mean "not now": too many requests, no shard or node, a proxy in between. */
const AWAY_STATUSES = new Set([408, 429, 502, 503, 504]);

export function isAwayStatus(status: number): boolean {
  return AWAY_STATUSES.has(status);
}

interface EngineReason {
  type?: string;
  reason?: string;
  caused_by?: EngineReason;
  root_cause?: EngineReason[];
}

/** The engine's own words, with the innermost cause, which is the one that helps. */
export function reasonText(error: unknown): string {
  if (typeof error === 'string') return error;
  const texts: string[] = [];
  let reason = error as EngineReason | undefined;
  for (let depth = 0; reason != null && depth < 5; depth += 1) {
    if (reason.reason !== undefined) texts.push(`${reason.type ?? 'error'}: ${reason.reason}`);
    reason = reason.caused_by ?? (depth === 0 ? reason.root_cause?.[0] : undefined);
  }
  return [...new Set(texts)].join('; ').slice(0, 1_000);
}

/**
 * Why the engine did not do what it was asked for. What goes over many chunks, as `_reindex` does, answers what it met
 * at the first of them in place of `error`.
 */
function errorIn(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const { error, failures } = body as { error?: unknown; failures?: { cause?: unknown; reason?: unknown }[] };
  return error ?? failures?.[0]?.cause ?? failures?.[0]?.reason;
}

/** A write that meets the moment in which a migration switches indexes: the next attempt goes to the new one. */
export function isBlocked(error: unknown): boolean {
  return typeof error === 'object' && (error as EngineReason | null)?.type === 'cluster_block_exception';
}

const NO_INDEX = 'index_not_found_exception';

function missingIndex(reason: string, cause?: unknown): AppError {
  return new AppError('VDB_COLLECTION_ERROR', `The index of the chunks is missing: ${reason}`, { cause });
}

/** Why one search of several, or the look-up of one document, was not answered, as one of our errors. */
export function readError(answer: { status?: number | undefined; error?: unknown }): AppError {
  const reason = reasonText(answer.error);
  if ((answer.error as EngineReason | null)?.type === NO_INDEX) return missingIndex(reason);
  return new AppError(
    isAwayStatus(answer.status ?? 500) ? 'VDB_CONNECTION_ERROR' : 'VDB_SEARCH_ERROR',
    reason,
  );
}

function toAnswerError(error: errors.ResponseError, refused: ErrorCode): AppError {
  const status = error.statusCode;
  const said = errorIn(error.body);
  const reason = reasonText(said);
  if (isBlocked(said) || isAwayStatus(status))
    return new AppError('VDB_CONNECTION_ERROR', undefined, { cause: error });
  if (refused === 'VDB_SEARCH_ERROR' && hasEngineType(error, NO_INDEX)) return missingIndex(reason, error);
  const code = status >= 400 && status < 500 && status !== 404 ? refused : 'VDB_ERROR';
  return new AppError(code, `OpenSearch answered ${status}: ${reason}`, { cause: error });
}

/**
 * A failed call as one of our errors: VDB_CONNECTION_ERROR when the engine cannot be reached or is overloaded,
 * VDB_COLLECTION_ERROR when there is no index to search, `refused` when it turned this very request down, VDB_ERROR
 * otherwise. What writes meets a missing index with VDB_ERROR: the next attempt makes it anew.
 */
export function toVdbError(error: unknown, refused: ErrorCode = 'VDB_ERROR'): unknown {
  if (error instanceof errors.ResponseError) return toAnswerError(error, refused);
  if (
    error instanceof errors.ConnectionError ||
    error instanceof errors.TimeoutError ||
    error instanceof errors.NoLivingConnectionsError
  )
    return new AppError('VDB_CONNECTION_ERROR', undefined, { cause: error });
  if (error instanceof errors.OpenSearchClientError)
    return new AppError('VDB_ERROR', undefined, { cause: error });
  return error;
}

/** Which of the credentials an `AccessProblem` names. */
export interface OpenSearchAccess {
  username?: string | null;
  aws?: { region: string } | null;
}

const NAMES = {
  engine: 'OpenSearch',
  address: 'OPENSEARCH_URL',
  ca: 'OPENSEARCH_CA_FILE',
  certificate: 'OPENSEARCH_CLIENT_CERT_FILE',
};
/** What the AWS SDK throws when it has asked every place for credentials. */
const NO_AWS_CREDENTIALS = 'CredentialsProviderError';

const NO_RIGHT = 'no permissions for [';
/** What follows the rights, of which several may stand there: `[indices:data/write/bulk[s], …] and User [name=…`. */
const AFTER_RIGHTS = /\] and (?:User|associated)/;

/** What the security plugin misses, such as ` (indices:admin/create)`; empty: it names nothing. */
function missingRight(body: unknown): string {
  const reason = reasonText(errorIn(body));
  const from = reason.indexOf(NO_RIGHT);
  if (from === -1) return '';
  const rest = reason.slice(from + NO_RIGHT.length, from + NO_RIGHT.length + 300);
  const end = rest.search(AFTER_RIGHTS);
  return end === -1 ? '' : ` (${rest.slice(0, end)})`;
}

/** Why the engine turns us away; undefined: it does not. */
export function openSearchProblem(error: unknown, access: OpenSearchAccess): AccessProblem | undefined {
  const problem = (sentence: string): AccessProblem => new AccessProblem(sentence, { cause: error });
  if (error instanceof Error && error.name === NO_AWS_CREDENTIALS)
    return problem('OPENSEARCH_AWS_REGION: the AWS SDK finds no credentials to sign requests with.');
  if (error instanceof errors.ConnectionError || error instanceof errors.NoLivingConnectionsError)
    return tlsProblem(error, NAMES);
  if (!(error instanceof errors.ResponseError)) return undefined;
  const { statusCode: status, body } = error;
  // 403 is also said of an index that is blocked for a while, with another type.
  const isForbidden = status === 403 && !isBlocked(errorIn(body));
  if (status !== 401 && !isForbidden) return undefined;
  if (access.aws != null)
    return problem(
      `OPENSEARCH_AWS_REGION: OpenSearch refuses requests signed with these AWS credentials${missingRight(body)}.`,
    );
  const variables = access.username == null ? 'OPENSEARCH_URL' : 'OPENSEARCH_USERNAME, OPENSEARCH_PASSWORD';
  return problem(
    status === 401
      ? `${variables}: OpenSearch refuses this user or password, or wants one.`
      : `${variables}: this user may not do in OpenSearch what Tamis needs${missingRight(body)}.`,
  );
}

/**
 * A server that speaks TLS alone says nothing to a client that does not, as one that is ending does: the sentence holds
 * for both.
 */
export function plainProblem(error: unknown, url: string): AccessProblem | undefined {
  if (!url.startsWith('http:') || !(error instanceof errors.ConnectionError)) return undefined;
  return /socket hang up|ECONNRESET/.test(error.message)
    ? new AccessProblem(
        'OPENSEARCH_URL: the server hung up without a word; if it speaks TLS, it wants https.',
        {
          cause: error,
        },
      )
    : undefined;
}

/** Whether a failed call's cause has this type in the engine's words, such as `resource_already_exists_exception`. */
export function hasEngineType(error: unknown, type: string): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof errors.ResponseError)) return false;
  const body = cause.body as { error?: EngineReason } | undefined;
  return body?.error?.type === type;
}
