import { Client, Connection } from '@opensearch-project/opensearch';
import { AwsSigv4Signer } from '@opensearch-project/opensearch/aws-v3';
import { AppError } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import { readPem } from '../../engine-certificates.js';
import type { Meter } from '../../ports/meter.js';
import { openSearchProblem, plainProblem, toVdbError } from './opensearch-errors.js';
import type { OpenSearchAccess } from './opensearch-errors.js';
import { operationOf } from './operation-of.js';
import { isPartial } from './search-hits.js';

interface OpenSearchRequest {
  body?: object;
  /** Lines of a `_bulk` or `_msearch` body: objects, or JSON that is written already. */
  lines?: readonly (object | string)[];
  query?: Record<string, string | number | boolean>;
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  /** The code of an answer that turns this request down. */
  refused?: ErrorCode;
}

/** How the stores speak to the engine; nothing of the driver shows. */
export interface OpenSearchClient {
  /** One call. @throws AppError VDB_CONNECTION_ERROR, VDB_ERROR or the request's own code; the signal's reason */
  request<Answer>(method: string, path: string, request?: OpenSearchRequest): Promise<Answer>;
}

interface OpenSearchConnection {
  client: OpenSearchClient;
  /** @throws AppError VDB_CONNECTION_ERROR */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenSearchOptions extends OpenSearchAccess {
  /** May carry credentials. */
  url: string;
  password?: string | null;
  /** Files of certificates and of a key. */
  ca?: string | null;
  certificate?: string | null;
  key?: string | null;
  aws?: { region: string; service: 'es' | 'aoss' } | null;
}

/** Operations that the engine answers from those shards alone that it reaches: what the others hold counts as none. */
const READS_SHARDS: ReadonlySet<string> = new Set(['search', 'count']);

/**
 * Of an answer. The engine says in a header of its own for each batch of a request what it has used; Node's limit of
 * 16 kB holds some 70 of them.
 */
const MAX_HEADER_BYTES = 1024 * 1024;

function withLargeHeaders(Base: typeof Connection): typeof Connection {
  return class extends Base {
    override buildRequestObject(params: unknown) {
      return { ...super.buildRequestObject(params), maxHeaderSize: MAX_HEADER_BYTES };
    }
  };
}

/** The driver's part of the options. */
function accessOptions({ username, password, ca, certificate, key, aws }: OpenSearchOptions) {
  const tls = {
    ca: readPem('OPENSEARCH_CA_FILE', ca),
    cert: readPem('OPENSEARCH_CLIENT_CERT_FILE', certificate),
    key: readPem('OPENSEARCH_CLIENT_KEY_FILE', key),
  };
  const signed = aws == null ? null : AwsSigv4Signer({ ...aws, getCredentials: createAwsCredentials() });
  return {
    ...(username != null && password != null && { auth: { username, password } }),
    ...(Object.values(tls).some((part) => part !== undefined) && {
      ssl: Object.fromEntries(Object.entries(tls).filter(([, part]) => part !== undefined)),
    }),
    ...signed,
    Connection: withLargeHeaders(signed?.Connection ?? Connection),
  };
}

/** The AWS SDK's own search: environment, profile, web identity, container, machine. Loaded when it is first needed. */
function createAwsCredentials() {
  let provider: ReturnType<typeof load> | undefined;
  const load = async () => (await import('@aws-sdk/credential-provider-node')).defaultProvider();
  return async () => (await (provider ??= load()))();
}

/**
 * Makes the one client of a process. Calls go through the client's transport (connections, retries, credentials)
 * with bodies of our own: its generated types do not know the k-NN plugin.
 * @throws ConfigError when a file of certificates cannot be read
 */
export function connectOpenSearch(
  options: OpenSearchOptions,
  meter?: Pick<Meter, 'engineCalled'>,
): OpenSearchConnection {
  const driver = new Client({
    node: options.url,
    name: 'tamis',
    requestTimeout: 30_000,
    maxRetries: 2,
    ...accessOptions(options),
  });

  /** One that turns us away is of as little use as one that is away. */
  const turnedAway = (error: unknown): AppError | undefined => {
    const cause = openSearchProblem(error, options);
    return cause && new AppError('VDB_CONNECTION_ERROR', undefined, { cause });
  };

  const request = async <Answer>(method: string, path: string, given: OpenSearchRequest = {}) => {
    const { signal } = given;
    signal?.throwIfAborted();
    const started = performance.now();
    const done = (failed: boolean): void =>
      meter?.engineCalled({
        engine: 'opensearch',
        operation: operationOf(path),
        failed,
        seconds: (performance.now() - started) / 1000,
      });
    const pending = driver.transport.request(
      {
        method,
        path,
        ...(given.body === undefined ? {} : { body: given.body }),
        ...(given.lines === undefined ? {} : { bulkBody: given.lines as Record<string, unknown>[] }),
        ...(given.query === undefined ? {} : { querystring: given.query }),
      },
      given.timeoutMs === undefined ? {} : { requestTimeout: given.timeoutMs },
    );
    // Answers nothing on purpose: `abort()` answers the request itself, whose rejection Node's event target would take
    // for an uncaught one and end the process.
    const abort = (): void => {
      pending.abort();
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const answer = (await pending).body as Answer;
      if (READS_SHARDS.has(operationOf(path)) && isPartial(answer as object))
        throw new AppError('VDB_CONNECTION_ERROR', 'Some shards of the index gave no answer.');
      done(false);
      return answer;
    } catch (error) {
      // The caller's leaving tells nothing of the engine.
      if (signal?.aborted === true) throw signal.reason;
      done(true);
      throw turnedAway(error) ?? toVdbError(error, given.refused);
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  };

  return {
    client: { request },
    async ping() {
      try {
        await driver.transport.request(
          { method: 'GET', path: '/' },
          { requestTimeout: 5_000, maxRetries: 0 },
        );
      } catch (error) {
        // Whatever it says, it cannot be used: wrong credentials are as bad as no answer.
        const cause = plainProblem(error, options.url) ?? error;
        throw turnedAway(error) ?? new AppError('VDB_CONNECTION_ERROR', undefined, { cause });
      }
    },
    close: () => driver.close(),
  };
}
