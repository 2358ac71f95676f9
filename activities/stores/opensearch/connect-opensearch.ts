import { Client } from '@opensearch-project/opensearch';
import { AppError } from '../../../schemas/app-error.js';
import type { ErrorCode } from '../../../schemas/error-table.js';
import type { Meter } from '../../ports/meter.js';
import { toVdbError } from './opensearch-errors.js';
import { operationOf } from './operation-of.js';

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

/**
 * Makes the one client of a process. Calls go through the client's transport (connections, retries, credentials)
 * with bodies of our own: its generated types do not know the k-NN plugin.
 * @param options.url may carry credentials
 */
export function connectOpenSearch(
  options: { url: string },
  meter?: Pick<Meter, 'engineCalled'>,
): OpenSearchConnection {
  const driver = new Client({ node: options.url, name: 'tamis', requestTimeout: 30_000, maxRetries: 2 });

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
      done(false);
      return answer;
    } catch (error) {
      // The caller's leaving tells nothing of the engine.
      if (signal?.aborted === true) throw signal.reason;
      done(true);
      throw toVdbError(error, given.refused);
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
        throw new AppError('VDB_CONNECTION_ERROR', undefined, { cause: error });
      }
    },
    close: () => driver.close(),
  };
}
