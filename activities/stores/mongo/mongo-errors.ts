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
import { AccessProblem, tlsProblem } from '../../../schemas/engine-access.js';
import { translateErrors } from '../translate-errors.js';

/** DocumentDB answers what PostgreSQL says as its class of error, five characters of six bits each in one number. */
function codeOfSqlState(state: string): number {
  return [...state].reduce((code, letter, place) => code + ((letter.charCodeAt(0) - 48) << (6 * place)), 0);
}

/**
 * Server codes that mean "not now": no primary, stepping down, shutting down, out of time; and PostgreSQL's lost
 * connections, shutting down and starting up.
 */
const AWAY_CODES = new Set([
  6,
  7,
  50,
  64,
  89,
  91,
  189,
  262,
  9001,
  10107,
  11600,
  11602,
  13435,
  13436,
  ...['08001', '08003', '08004', '08006', '57P01', '57P02', '57P03'].map(codeOfSqlState),
]);
/** PostgreSQL ended one of several writes that waited for each other. */
const DEADLOCK_CODES = new Set(['40P01', '40001'].map(codeOfSqlState));
/** The server is there, but of no use to us: it wants credentials for this, or does not know those it was given. */
const UNAUTHORIZED_CODE = 13;
const AUTHENTICATION_FAILED_CODE = 18;
const REFUSED_CODES = new Set([UNAUTHORIZED_CODE, AUTHENTICATION_FAILED_CODE]);

const NAMES = {
  engine: 'MongoDB',
  address: 'MONGODB_URL',
  ca: 'MONGODB_CA_FILE',
  certificate: 'MONGODB_URL, tlsCertificateKeyFile',
};

/**
 * FerretDB's code for everything unforeseen; what happened is then said by PostgreSQL's or its own words alone. Words
 * are matched at their beginning, so that no client's text that an error quotes is taken for them.
 */
const FERRETDB_INTERNAL_CODE = 1;
/** PostgreSQL went away, is starting or stopping, or has no connection left. */
const FERRETDB_AWAY =
  /^(?:unexpected EOF|terminating connection|the database system is|sorry, too many clients|(?:msg_\w+\.go:[^\n]* )?failed to connect to|(?:msg_\w+\.go:[^\n]* )?(?:read|write) tcp)/;
const FERRETDB_DUPLICATE_KEY =
  /^(?:duplicate key value violates unique constraint|conflicting key value violates exclusion constraint)/;
const FERRETDB_DEADLOCK = /^(?:deadlock detected|could not serialize access)/;

/** What a server answered, as a whole or about one entry of a batch. */
interface Reply {
  code?: unknown;
  errmsg?: string | undefined;
}

function isInternal({ code, errmsg = '' }: Reply, words: RegExp): boolean {
  return code === FERRETDB_INTERNAL_CODE && words.test(errmsg);
}

function isAway(error: MongoError): boolean {
  return (
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
      (AWAY_CODES.has(Number(error.code)) ||
        REFUSED_CODES.has(Number(error.code)) ||
        isInternal(replyOf(error), FERRETDB_AWAY)))
  );
}

const DUPLICATE_KEY_CODE = 11000;

function replyOf(error: MongoServerError): Reply {
  return { code: error.code, errmsg: error.message };
}

/** Whether a unique index refused the write that this answer tells of: FerretDB words it inside `findAndModify`. */
export function isDuplicateKeyReply(reply: Reply): boolean {
  return reply.code === DUPLICATE_KEY_CODE || isInternal(reply, FERRETDB_DUPLICATE_KEY);
}

/** A unique index refused the write. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && isDuplicateKeyReply(replyOf(error));
}

/** The document of an upsert by id. Only the very first can collide, with another one that inserts it. */
export async function upserted<Found>(upsert: () => Promise<Found | null>): Promise<Found> {
  const found = await upsert().catch((error: unknown) => {
    if (isDuplicateKey(error)) return upsert();
    throw error;
  });
  if (found === null) throw new Error('an upsert answers a document');
  return found;
}

/** Whether the write was rolled back because it and another one waited for each other. */
export function isDeadlockReply(reply: Reply): boolean {
  return DEADLOCK_CODES.has(Number(reply.code)) || isInternal(reply, FERRETDB_DEADLOCK);
}

/** The write was rolled back because it and another one waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof MongoServerError && isDeadlockReply(replyOf(error));
}

/** Why the server turns us away; undefined: it does not. */
function accessProblem(error: MongoError): AccessProblem | undefined {
  if (error instanceof MongoServerError && Number(error.code) === AUTHENTICATION_FAILED_CODE)
    return new AccessProblem('MONGODB_URL: MongoDB refuses its user or password.', { cause: error });
  if (error instanceof MongoServerError && Number(error.code) === UNAUTHORIZED_CODE)
    return new AccessProblem('MONGODB_URL: its user, or a client without one, may not use the database.', {
      cause: error,
    });
  return error instanceof MongoServerSelectionError || error instanceof MongoNetworkError
    ? tlsProblem(error, NAMES)
    : undefined;
}

/** A server that speaks TLS alone says nothing to a client that does not, as one that is ending does. */
export function plainMongoProblem(error: unknown): AccessProblem | undefined {
  return error instanceof MongoServerSelectionError && /^connection .* closed$/.test(error.message)
    ? new AccessProblem(
        'MONGODB_URL: the server hung up without a word; if it speaks TLS, it wants tls=true or MONGODB_CA_FILE.',
        { cause: error },
      )
    : undefined;
}

/**
 * SERVICE_UNAVAILABLE when the server cannot be used, STORAGE_ERROR for its other complaints. What is not the
 * driver's (a source stream's error, an abort) stays as it is. An `AccessProblem` among the causes says which variable
 * to look at.
 */
export function toMongoAppError(error: unknown): unknown {
  if (error instanceof MongoError)
    return new AppError(isAway(error) ? 'SERVICE_UNAVAILABLE' : 'STORAGE_ERROR', undefined, {
      cause: accessProblem(error) ?? error,
    });
  if (error instanceof BSON.BSONError) return new AppError('STORAGE_ERROR', undefined, { cause: error });
  return error;
}

/** A store whose methods throw our errors only. */
export function withMongoErrors<Store extends object>(store: Store): Store {
  return translateErrors(store, toMongoAppError);
}
