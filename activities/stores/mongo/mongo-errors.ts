import {
  BSON,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { AppError } from '../../../schemas/app-error.js';
import { translateErrors } from '../translate-errors.js';

/** Server codes that mean "not now": no primary, stepping down, shutting down, out of time. */
const AWAY_CODES = new Set([6, 7, 50, 64, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
/** Credentials refused: the server is there, but of no use to us. */
const REFUSED_CODES = new Set([13, 18]);

const isAway = (error: MongoError): boolean =>
  error instanceof MongoServerSelectionError ||
  error instanceof MongoNetworkError ||
  error instanceof MongoNotConnectedError ||
  error instanceof MongoTopologyClosedError ||
  error instanceof MongoOperationTimeoutError ||
  error instanceof MongoWriteConcernError ||
  error.name === 'MongoPoolClearedError' ||
  error.name === 'MongoWaitQueueTimeoutError' ||
  error.name === 'MongoPoolClosedError' ||
  (error instanceof MongoServerError &&
    (AWAY_CODES.has(Number(error.code)) || REFUSED_CODES.has(Number(error.code))));

const DUPLICATE_KEY_CODE = 11000;
/**
 * FerretDB answers a unique violation inside `findAndModify` with its code for everything unforeseen and PostgreSQL's
 * words. Matched only together with that code, so that no client's text in another error is taken for it.
 */
const FERRETDB_INTERNAL_CODE = 1;
const FERRETDB_DUPLICATE_KEY =
  /^(?:duplicate key value violates unique constraint|conflicting key value violates exclusion constraint)/;

/** Whether a unique index refused the write that this error, or this entry of a bulk write's errors, tells of. */
export function isDuplicateKeyReply(reply: { code?: unknown; errmsg?: string | undefined }): boolean {
  if (reply.code === DUPLICATE_KEY_CODE) return true;
  return reply.code === FERRETDB_INTERNAL_CODE && FERRETDB_DUPLICATE_KEY.test(reply.errmsg ?? '');
}

/** A unique index refused the write. MongoDB says it by its code; servers word the message differently. */
export function isDuplicateKey(error: unknown): boolean {
  return (
    error instanceof MongoServerError && isDuplicateKeyReply({ code: error.code, errmsg: error.message })
  );
}

/**
 * SERVICE_UNAVAILABLE when the server cannot be used, STORAGE_ERROR for its other complaints. What is not the
 * driver's (a source stream's error, an abort) stays as it is.
 */
export const toMongoAppError = (error: unknown): unknown => {
  if (error instanceof MongoError)
    return new AppError(isAway(error) ? 'SERVICE_UNAVAILABLE' : 'STORAGE_ERROR', undefined, { cause: error });
  if (error instanceof BSON.BSONError) return new AppError('STORAGE_ERROR', undefined, { cause: error });
  return error;
};

/** A store whose methods throw our errors only. */
export const withMongoErrors = <Store extends object>(store: Store): Store =>
  translateErrors(store, toMongoAppError);
