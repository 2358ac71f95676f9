import { MongoClient } from 'mongodb';
import type { Db } from 'mongodb';
import { AppError } from '../../../schemas/app-error.js';
import { readPem } from '../../engine-certificates.js';
import { patchMongoSockets } from './mongo-socket-patch.js';
import { plainMongoProblem, toMongoAppError } from './mongo-errors.js';
import { retryDeadlocks } from './retry-deadlocks.js';

/** As long as connecting takes at most; the server gives up then. */
const PING_MS = 5_000;

interface MongoConnection {
  db: Db;
  client: MongoClient;
  /**
   * Reads: the server's own `ping` is answered to a client that may do nothing else.
   * @throws AppError SERVICE_UNAVAILABLE
   */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the one client of a process and waits until it reaches a server, five seconds at most. Every write waits
 * for a majority and the journal: a 201 rests on it.
 * @throws AppError CONFIG_ERROR when the URL cannot be read, SERVICE_UNAVAILABLE when no server answers; ConfigError
 *   when the file of certificates cannot be read
 */
export async function connectMongo(options: {
  url: string;
  database: string;
  /** File of certificates that sign the server's; what the URL says of TLS holds besides. */
  ca?: string | null;
  /** Waits for an answer as long as the connection lives: building an index over a million records takes minutes. */
  isPatient?: boolean;
}): Promise<MongoConnection> {
  patchMongoSockets();
  const ca = readPem('MONGODB_CA_FILE', options.ca);
  let client: MongoClient;
  try {
    client = new MongoClient(options.url, {
      appName: 'tamis',
      serverSelectionTimeoutMS: 5_000,
      connectTimeoutMS: 5_000,
      waitQueueTimeoutMS: 10_000,
      // Longer than any single operation of ours, short enough that a dead peer is noticed within minutes.
      socketTimeoutMS: options.isPatient === true ? 0 : 60_000,
      maxPoolSize: 50,
      ignoreUndefined: true,
      ...(ca !== undefined && { tls: true, ca }),
    });
  } catch (error) {
    throw new AppError('CONFIG_ERROR', 'MONGODB_URL cannot be read', { cause: error });
  }
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    const cause = client.options.tls ? undefined : plainMongoProblem(error);
    throw cause === undefined
      ? toMongoAppError(error)
      : new AppError('SERVICE_UNAVAILABLE', undefined, { cause });
  }
  // On the handle and not in the URL, so that a URL without options is as safe as one with.
  const db = retryDeadlocks(
    client.db(options.database, {
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
    }),
  );
  return {
    db,
    client,
    async ping() {
      try {
        await db.collection('settings').findOne({}, { projection: { _id: 1 }, maxTimeMS: PING_MS });
      } catch (error) {
        throw toMongoAppError(error);
      }
    },
    close: () => client.close(),
  };
}
