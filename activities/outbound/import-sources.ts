import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import type { Dispatcher } from 'undici';
import { AppError } from '../../schemas/app-error.js';
import { createPace } from '../pace.js';
import type { Download } from '../ports/downloads.js';
import type { ImportSources, SourceService } from '../ports/imports.js';
import { createLoopShare } from '../signals/rules/loop-share.js';
import { createGuardedDispatcher, isBlocked } from './address-guard.js';
import { createListCutter } from './cut-list.js';
import { parseExact } from '../text/exact-json.js';
import { readWhole } from './read-body.js';
import { retryAfterMs } from './retry-after.js';

const CONNECT_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 120_000;
/** For the whole of an answer of 64 MiB at most; bytes may come one by one. */
const WHOLE_ANSWER_TIMEOUT_MS = 600_000;
/** A service that knows no pages gives the list of a partition's files in one answer. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A source that limits its clients is waited for; no longer than this at a time, and not for ever. */
const MAX_WAIT_MS = 60_000;
const MAX_WAITS = 10;
/** Refusals that hold for the moment alone: Request Timeout, Locked, Too Early, Too Many Requests. */
const PASSING: ReadonlySet<number> = new Set([408, 423, 425, 429]);

function failed(text: string, cause?: unknown): AppError {
  return new AppError('IMPORT_SOURCE_FAILED', text, { cause });
}

/** An answer that is not read is let go. */
function drop({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => undefined).destroy();
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | undefined {
  return [headers[name] ?? []].flat()[0];
}

/** What came, within the limit, or an error of ours. */
async function* bounded(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
  told: (error: unknown) => unknown,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const part of body) {
      bytes += part.length;
      if (bytes > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE');
      yield part;
    }
  } catch (error) {
    throw told(error);
  }
}

/** Services that are imported from. No redirect is followed: the token goes to the address that was given alone. */
export function createImportSources({
  allowPrivateAddresses,
  wholeAnswerTimeoutMs = WHOLE_ANSWER_TIMEOUT_MS,
}: {
  allowPrivateAddresses: boolean;
  wholeAnswerTimeoutMs?: number;
}): ImportSources {
  const dispatcher = createGuardedDispatcher({
    allowPrivate: allowPrivateAddresses,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });

  const open: ImportSources['open'] = ({ url, token }, { requestsPerSecond, signal }): SourceService => {
    const pace = createPace(requestsPerSecond, signal);

    const told = (error: unknown): unknown => {
      if (signal.aborted) return signal.reason;
      if (error instanceof AppError) return error;
      if (isBlocked(error))
        return new AppError(
          'IMPORT_SOURCE_REFUSED',
          'The address of the source is private; IMPORT_ALLOW_PRIVATE_URLS lets it be asked.',
        );
      return failed('The source gave no answer, or broke off.', error);
    };

    const ask = async (path: string, ends = signal, waits = 0): Promise<Dispatcher.ResponseData> => {
      await pace();
      const answer = await request(`${url}${path}`, {
        method: 'GET',
        dispatcher,
        signal: ends,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
        headers: { authorization: `Bearer ${token}`, 'accept-encoding': 'identity', 'user-agent': 'tamis' },
      });
      const { statusCode: status } = answer;
      if (status === 200) return answer;
      drop(answer);
      if (status === 429 && waits < MAX_WAITS) {
        const wait = retryAfterMs(headerOf(answer, 'retry-after'), Date.now()) ?? 1000;
        await setTimeout(Math.min(wait, MAX_WAIT_MS), undefined, { signal: ends });
        return ask(path, ends, waits + 1);
      }
      // The path names partitions and files, and no secret.
      const words = `The source answered ${status} to ${path}.`;
      if (status === 404) throw new AppError('NOT_FOUND', words);
      if (PASSING.has(status) || status >= 500) throw failed(words);
      throw new AppError('IMPORT_SOURCE_REFUSED', words, { details: { answered: status } });
    };

    const tooLarge = (path: string): AppError =>
      new AppError('IMPORT_SOURCE_REFUSED', `The answer to ${path} is larger than 64 MiB.`);

    /** Asks and reads; what comes of it otherwise is told in our words, a 404 with null. */
    const answerTo = async <T>(
      path: string,
      readBody: (body: AsyncIterable<Buffer>) => Promise<T>,
    ): Promise<T | null> => {
      const limit = AbortSignal.timeout(wholeAnswerTimeoutMs);
      try {
        const { body } = await ask(path, AbortSignal.any([signal, limit]));
        return await readBody(body as AsyncIterable<Buffer>);
      } catch (error) {
        if (error instanceof AppError && error.code === 'NOT_FOUND') return null;
        if (limit.aborted && !signal.aborted)
          throw failed(
            `The answer to ${path} did not come within ${wholeAnswerTimeoutMs / 1000} seconds.`,
            error,
          );
        if (error instanceof SyntaxError)
          throw new AppError('IMPORT_SOURCE_REFUSED', `The answer to ${path} is no JSON.`);
        throw told(error);
      }
    };

    return {
      json: (path) =>
        answerTo(path, async (body) => {
          const bytes = await readWhole(body, MAX_ANSWER_BYTES, () => tooLarge(path));
          return parseExact(bytes.toString('utf8'));
        }),
      eachOf: async (path, name, take) => {
        const isThere = await answerTo(path, async (body) => {
          const share = createLoopShare();
          const cutter = createListCutter(name);
          let bytes = 0;
          for await (const chunk of body) {
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES) throw tooLarge(path);
            for (const element of cutter.take(chunk)) take(element);
            await share();
          }
          if (cutter.end()) return true;
          const words = `The answer to ${path} is not as the contract has it: ${name}`;
          throw new AppError('IMPORT_SOURCE_REFUSED', words);
        });
        return isThere ?? false;
      },
      downloads: {
        async open(path, { maxBytes, timeoutMs, signal: givenUp }): Promise<Download> {
          const limit = AbortSignal.timeout(timeoutMs);
          const toldOfBytes = (error: unknown): unknown => {
            if (givenUp.aborted) return givenUp.reason;
            if (!limit.aborted || signal.aborted || error instanceof AppError) return told(error);
            return failed(`What is at ${path} did not come within ${timeoutMs / 1000} seconds.`, error);
          };
          try {
            const answer = await ask(path, AbortSignal.any([signal, givenUp, limit]));
            const announced = Number(headerOf(answer, 'content-length') ?? NaN);
            const size = Number.isSafeInteger(announced) ? announced : null;
            if (size !== null && size > maxBytes) {
              drop(answer);
              throw new AppError('PAYLOAD_TOO_LARGE');
            }
            return {
              name: '',
              mimetype: headerOf(answer, 'content-type') ?? null,
              size,
              body: Readable.from(bounded(answer.body as AsyncIterable<Buffer>, maxBytes, toldOfBytes), {
                objectMode: false,
              }),
            };
          } catch (error) {
            throw toldOfBytes(error);
          }
        },
      },
    };
  };

  return { open, close: () => dispatcher.destroy() };
}
